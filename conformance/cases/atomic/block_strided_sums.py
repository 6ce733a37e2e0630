# The threads of a block add up one row: each starts at its own column and moves on by the block size.
import warp as wp


@wp.func
def sum_of_squares(x: wp.array2d(dtype=float), row: int, first: int):
    s = float(0.0)
    for k in range(first, x.shape[1], wp.block_dim()):
        s += x[row, k] * x[row, k]
    return s


@wp.kernel
def block_strided_sums(x: wp.array2d(dtype=float), sums: wp.array(dtype=float)):
    row, column = wp.tid()
    wp.atomic_add(sums, row, sum_of_squares(x, row, column))
