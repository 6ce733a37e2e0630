# Only some threads change the variable; the gradient of the others bypasses the branch.
import warp as wp


@wp.kernel
def branch_without_else(
    x: wp.array(dtype=float),
    y: wp.array(dtype=float),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    t = x[i] * 0.75
    if y[i] < 0.2:
        t = t * y[i] + t
        t = t * t
    out[i] = t + y[i] * x[i]
