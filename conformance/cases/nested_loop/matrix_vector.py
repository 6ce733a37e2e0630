# A matrix times a vector, then the square of the result's norm.
import warp as wp


# domain: 0 <= n <= 6
# domain: 0 <= m <= 5
@wp.kernel
def matrix_vector(
    w: wp.array2d(dtype=float),
    v: wp.array(dtype=float),
    x: wp.array(dtype=float),
    n: int,
    m: int,
    out: wp.array(dtype=float),
):
    i = wp.tid()
    q = float(0.5)
    for j in range(n):
        s = x[i]
        for k in range(m):
            s += w[j, k] * v[k]
        q += s * s
    out[i] = q
