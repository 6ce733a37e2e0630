# A constant range of more than sixteen trips is a loop at run time, not unrolled code.
import warp as wp


# domain: -0.25 <= x <= 0.25
@wp.kernel
def more_than_sixteen(
    x: wp.array(dtype=float),
    y: wp.array(dtype=float),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    s = y[i]
    for j in range(24):
        s = s * 0.75 + x[i] * s / (1.0 + s * s)
    out[i] = s + x[i]
