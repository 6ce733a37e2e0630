# The solution of a tridiagonal system of four unknowns by elimination, written out, with an active diagonal.
import warp as wp


# domain: 2 <= diagonal <= 4
@wp.kernel
def tridiagonal_solve(
    diagonal: wp.array2d(dtype=float), side: float, right: wp.array2d(dtype=float), out: wp.array2d(dtype=float)
):
    i = wp.tid()
    e = side * 0.25
    c0 = e / diagonal[i, 0]
    d0 = right[i, 0] / diagonal[i, 0]
    m1 = diagonal[i, 1] - e * c0
    c1 = e / m1
    d1 = (right[i, 1] - e * d0) / m1
    m2 = diagonal[i, 2] - e * c1
    c2 = e / m2
    d2 = (right[i, 2] - e * d1) / m2
    m3 = diagonal[i, 3] - e * c2
    x3 = (right[i, 3] - e * d2) / m3
    x2 = d2 - c2 * x3
    x1 = d1 - c1 * x2
    x0 = d0 - c0 * x1
    out[i, 0] = x0
    out[i, 1] = x1
    out[i, 2] = x2
    out[i, 3] = x3
