# No condition may hold: the earlier value survives, with its gradient.
import warp as wp


@wp.kernel
def elif_without_else(
    x: wp.array(dtype=float),
    y: wp.array(dtype=float),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    t = x[i] * y[i] + 1.5
    if x[i] > 1.0:
        t *= x[i]
    elif x[i] < -1.0:
        t -= y[i]
    out[i] = t * t
