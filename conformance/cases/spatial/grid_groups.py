# The points of a hash grid of float64 that are nearby and in the group of a thread.
import warp as wp


@wp.func
def nearby(grid: wp.uint64, x: wp.vec3d, radius: wp.float64, group: int):
    count = int(0)
    for point in wp.hash_grid_query(grid, x, radius, group):
        count += 1 << point
    return count


# domain: 0.25 <= radius <= 1.5
# domain: 0 <= groups <= 3
@wp.kernel
def grid_groups(
    grid: wp.uint64,
    x: wp.array(dtype=wp.vec3d),
    radius: wp.float64,
    groups: wp.array(dtype=int),
    found: wp.array2d(dtype=int),
):
    i = wp.tid()
    found[i, 0] = nearby(grid, x[i], radius, groups[i])
    query = wp.hash_grid_query(grid, x[i], radius)
    point = int(-1)
    while wp.hash_grid_query_next(query, point):
        found[i, 1] = wp.max(found[i, 1], point)
