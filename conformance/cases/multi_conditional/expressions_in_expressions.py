# Conditional expressions inside one another and inside the branches of an if.
import warp as wp


@wp.kernel
def expressions_in_expressions(
    x: wp.array(dtype=float),
    y: wp.array(dtype=float),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    t = x[i] * y[i] if x[i] > 0.5 else (y[i] if y[i] > 0.5 else x[i] - y[i])
    if t > 0.25:
        out[i] = t * (2.0 if y[i] < 0.0 else x[i])
    else:
        out[i] = t - (x[i] if x[i] < y[i] else 0.5 * y[i])
