# A scalar that is compared only: no gradient reaches it through the choice, but one does through the arm.
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
