# A linear system per block: the factor of a positive definite matrix, and the solution for a vector and for a matrix.
import warp as wp


@wp.kernel
def cholesky_solve(
    m: wp.array3d(dtype=float),
    y: wp.array2d(dtype=float),
    sides: wp.array3d(dtype=float),
    x: wp.array2d(dtype=float),
    solutions: wp.array3d(dtype=float),
    factor: wp.array3d(dtype=float),
):
    i = wp.tid()
    a = wp.tile_load(m[i], shape=(4, 4))
    square = wp.tile_diag_add(wp.tile_matmul(a, wp.tile_transpose(a)), wp.tile_ones(shape=4, dtype=float))
    lower = wp.tile_cholesky(square)
    wp.tile_store(factor[i], lower)
    wp.tile_store(x[i], wp.tile_cholesky_solve(lower, wp.tile_load(y[i], shape=4)))
    upper = wp.tile_cholesky(square, fill_mode="upper")
    right = wp.tile_load(sides[i], shape=(4, 3))
    wp.tile_store(solutions[i], wp.tile_cholesky_solve(upper, right, fill_mode="upper"))
