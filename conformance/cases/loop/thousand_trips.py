# 1,000 trips with state: bounded by construction, and far more than any table of stored states would hold.
import warp as wp


# launch: (7)
@wp.kernel
def thousand_trips(x: wp.array(dtype=float), a: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    s = x[i]
    for j in range(1000):
        s = wp.sin(s + 0.01 * a[i]) * 0.9 + 0.1 * x[i]
    out[i] = s + a[i]
