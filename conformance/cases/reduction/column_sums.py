# One thread per element, one sum of squares per column.
import warp as wp


@wp.kernel
def column_sums(x: wp.array2d(dtype=float), sums: wp.array(dtype=float)):
    i, j = wp.tid()
    wp.atomic_add(sums, j, x[i, j] * x[i, j] + float(i) * x[i, j])
