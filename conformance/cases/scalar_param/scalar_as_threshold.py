# A scalar used as a threshold: the comparison passes no gradient to it, but its use in the branch does.
import warp as wp


# domain: -0.5 <= limit <= 0.5
@wp.kernel
def scalar_as_threshold(
    x: wp.array(dtype=float),
    limit: float,
    other: float,
    out: wp.array(dtype=float),
):
    i = wp.tid()
    t = x[i] * 0.5
    if x[i] > limit:
        t = (x[i] - other) * x[i]
    out[i] = t + wp.max(x[i], other)
