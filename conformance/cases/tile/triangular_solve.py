# Each block solves triangular systems; the solutions are new tiles or replace the right-hand sides. One triangle of the
# matrix is read.
import warp as wp


@wp.kernel
def triangular_solve(
    m: wp.array3d(dtype=float),
    y: wp.array2d(dtype=float),
    sides: wp.array3d(dtype=float),
    below: wp.array2d(dtype=float),
    above: wp.array3d(dtype=float),
):
    i = wp.tid()
    a = wp.tile_load(m[i], shape=(3, 3))
    matrix = wp.tile_diag_add(a * 0.25, wp.tile_ones(shape=3, dtype=float) * 2.0)
    z = wp.tile_load(y[i], shape=3)
    first = wp.tile_lower_solve(matrix, z)
    wp.tile_upper_solve_inplace(matrix, z)
    wp.tile_store(below[i], first * z)
    right = wp.tile_load(sides[i], shape=(3, 2))
    second = wp.tile_upper_solve(matrix, right)
    wp.tile_lower_solve_inplace(matrix, second)
    wp.tile_store(above[i], second)
