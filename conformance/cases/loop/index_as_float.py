# The loop's index as a float in the body, and also as an index.
import warp as wp


# domain: 0 <= n <= 10
@wp.kernel
def index_as_float(
    x: wp.array2d(dtype=float),
    a: wp.array(dtype=float),
    n: int,
    out: wp.array(dtype=float),
):
    i = wp.tid()
    s = float(0.1)
    for j in range(n):
        s += x[i, j] * wp.cos(0.5 * float(j) * a[i]) / float(j + 1)
    out[i] = s * a[i]
