# 1,000 short steps along a flow: far more than any table of stored states would hold, yet each step matters.
import warp as wp


# launch: (7)
@wp.kernel
def thousand_trips(x: wp.array(dtype=float), a: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    s = x[i]
    for j in range(1000):
        s = s + 0.002 * wp.sin(s + a[i])
    out[i] = s + a[i]
