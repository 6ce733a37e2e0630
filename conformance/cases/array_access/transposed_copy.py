# Reads by row and writes by column: both of the two indices must keep their places.
import warp as wp


@wp.kernel
def transposed_copy(x: wp.array2d(dtype=float), out: wp.array2d(dtype=float)):
    i, j = wp.tid()
    out[j, i] = x[i, j] * x[i, j] + float(i - 2 * j)
