# s = a * s + x with an active coefficient: the gradient of a needs every value that s had.
import warp as wp


# domain: 0 <= n <= 12
@wp.kernel
def linear_recurrence(
    x: wp.array2d(dtype=float),
    a: wp.array(dtype=float),
    n: int,
    out: wp.array(dtype=float),
):
    i = wp.tid()
    s = a[i] + 0.25
    for j in range(n):
        s = 0.5 * a[i] * s + x[i, j]
    out[i] = s * s
