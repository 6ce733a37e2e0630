# Every way to make a matrix: by elements, rows, columns, one value, shape and dtype, another matrix.
import warp as wp

mat23 = wp.types.matrix(shape=(2, 3), dtype=float)


@wp.kernel
def constructors(
    u: wp.array(dtype=wp.vec3),
    s: wp.array(dtype=float),
    out: wp.array(dtype=mat23),
    square: wp.array(dtype=wp.mat33),
    total: wp.array(dtype=float),
):
    i = wp.tid()
    rows = wp.matrix_from_rows(u[i], u[i] * s[i])
    columns = wp.matrix_from_cols(u[i], wp.vec3(1.0, s[i], 0.0), u[i] * u[i][0])
    filled = mat23(s[i])
    listed = wp.matrix(s[i], 0.5, u[i][2], 1.0, shape=(2, 2), dtype=float)
    empty = wp.matrix(shape=(3, 3), dtype=float)
    copied = wp.mat33(columns)
    out[i] = rows + filled * 0.5
    square[i] = columns * copied + wp.identity(n=3, dtype=float) - empty
    total[i] = wp.determinant(listed) * s[i]
