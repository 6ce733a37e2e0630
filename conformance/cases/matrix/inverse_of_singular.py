# The inverse of a singular matrix is zero in Warp, and so is its gradient: a quarter of the inputs are singular, by
# three elements in turn.
import warp as wp


@wp.kernel
def inverse_of_singular(
    a: wp.array(dtype=wp.mat33),
    s: wp.array(dtype=float),
    out: wp.array(dtype=wp.mat33),
):
    i = wp.tid()
    m = a[i] * 0.2 + wp.identity(n=3, dtype=float)
    for r in range(3):
        if s[i] < float(r) - 1.0:
            m[(2 * r + 1) % 3, 1] = 0.0
    out[i] = wp.inverse(m) * s[i] + a[i]
