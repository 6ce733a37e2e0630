# The first branch changes what the second one tests.
import warp as wp


@wp.kernel
def condition_changed_by_branch(
    x: wp.array(dtype=float),
    y: wp.array(dtype=float),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    t = x[i]
    if t < 0.25:
        t = t + y[i]
    if t > 0.5:
        t = t * t - 1.25
    if t < -0.75:
        t = -t * y[i]
    out[i] = t + 0.125 * y[i]
