# A launch of two dimensions: a wrong order of the indices or of the shape shows at once.
import warp as wp


@wp.kernel
def two_dimensional(
    x: wp.array2d(dtype=float), row: wp.array(dtype=float), column: wp.array(dtype=float), out: wp.array2d(dtype=float)
):
    i, j = wp.tid()
    out[i, j] = x[i, j] * row[i] - 2.0 * column[j] + float(i - 2 * j) * 0.125
