# 100,000 trips: the reverse sweep has no room to keep a state of each.
import warp as wp


# launch: (3)
# domain: -1 <= x <= 1
@wp.kernel
def hundred_thousand_trips(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    s = x[i] + 0.5
    for j in range(100000):
        s = 0.5 * s + 0.25 * x[i] * s + 0.125
    out[i] = s * x[i]
