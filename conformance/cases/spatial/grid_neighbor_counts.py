# The number of points of a hash grid near given points, by both ways to loop over a query.
import warp as wp


# domain: 0.25 <= radius <= 1.5
@wp.kernel
def grid_neighbor_counts(
    grids: wp.array(dtype=wp.uint64),
    x: wp.array(dtype=wp.vec3),
    points: wp.array(dtype=wp.vec3),
    radius: float,
    counts: wp.array(dtype=int),
    visited: wp.array(dtype=int),
):
    i = wp.tid()
    count = int(0)
    sum = int(0)
    for point in wp.hash_grid_query(grids[i], x[i], radius):
        sum += point * point + 1
        if wp.length(points[point] - x[i]) < radius:
            count += 1
    query = wp.hash_grid_query(grids[i], point=x[i], max_dist=0.5 * radius)
    index = int(0)
    while wp.hash_grid_query_next(query, index):
        sum += 1000
    counts[i] = count
    visited[i] = sum
