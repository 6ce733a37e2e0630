# Bins in two dimensions, chosen by the thread's position; one add for each corner of its grid cell.
import warp as wp


@wp.kernel
def two_dimensional_bins(x: wp.array2d(dtype=float), bins: wp.array2d(dtype=float)):
    i, j = wp.tid()
    w = 0.25 * x[i, j] * x[i, j]
    wp.atomic_add(bins, i / 3, j % 2, w)
    wp.atomic_add(bins, i / 3 + 1, j % 2, x[i, j] - w)
