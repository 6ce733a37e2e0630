# The points of a hash grid of float16 that a query visits.
import warp as wp


# domain: 0.25 <= radius <= 1
@wp.kernel
def grid_of_halves(
    grid: wp.uint64, x: wp.array(dtype=wp.vec3h), radius: wp.array(dtype=wp.float16), found: wp.array(dtype=int)
):
    i = wp.tid()
    sum = int(0)
    for point in wp.hash_grid_query(grid, x[i], radius[i]):
        sum += 1 << point
    found[i] = sum
