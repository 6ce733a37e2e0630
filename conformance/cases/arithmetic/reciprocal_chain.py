# A continued fraction: each division's result divides again.
import warp as wp


# domain: 0.25 <= x <= 4
@wp.kernel
def reciprocal_chain(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    t = 1.0 / (x[i] + 1.0)
    t = 1.0 / (t + x[i])
    t = x[i] / (t + 0.5)
    out[i] = t * t
