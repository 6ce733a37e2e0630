# Matrices of integers: products, elements, trace; a float output depends on one of them.
import warp as wp

mat22i = wp.types.matrix(shape=(2, 2), dtype=int)


# domain: -9 <= cells <= 9
@wp.kernel
def integer_matrices(
    cells: wp.array(dtype=mat22i),
    x: wp.array(dtype=float),
    counts: wp.array(dtype=mat22i),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    m = cells[i] * wp.transpose(cells[i])
    m[0, 1] = wp.trace(cells[i]) - m[1, 0] * 2
    counts[i] = m - cells[i]
    out[i] = x[i] * float(m[0, 0]) + x[i]
