# The inverse of a singular matrix is zero in Warp, and so is its gradient: half of the inputs are such.
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
        if s[i] < 0.0:
            m[r, 1] = 0.0
    out[i] = wp.inverse(m) * s[i] + a[i]
