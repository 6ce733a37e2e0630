# x times its own transpose times x: each operand is used more than once.
import warp as wp


@wp.kernel
def matmul_reused_operand(a: wp.array2d(dtype=float), out: wp.array2d(dtype=float)):
    i = wp.tid()
    x = wp.tile_load(a, shape=(3, 4), offset=(i * 3, 0))
    square = wp.tile_matmul(x, wp.tile_transpose(x))
    wp.tile_store(out, wp.tile_matmul(square, x) + x, offset=(i * 3, 0))
