# Determinants of two to four rows, used non-linearly: the gradient is the matrix of cofactors.
import warp as wp


@wp.kernel
def determinants(
    a: wp.array(dtype=wp.mat22),
    b: wp.array(dtype=wp.mat33),
    c: wp.array(dtype=wp.mat44),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    d2 = wp.determinant(a[i])
    d3 = wp.determinant(b[i])
    d4 = wp.determinant(c[i] * 0.5 + wp.identity(n=4, dtype=float))
    out[i] = d2 * d3 + d4 * 0.5 - d2 * d2
