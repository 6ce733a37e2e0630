# The density of particles: a sum of a smooth function of the distances to the particles nearby.
import warp as wp


@wp.func
def weight(between: wp.vec3, radius: float):
    rest = radius * radius - wp.dot(between, between)
    return wp.max(rest * rest * rest, 0.0)


# launch: (grid_order.shape[0])
# domain: 0.5 <= radius <= 2
@wp.kernel
def grid_density(
    grid: wp.uint64,
    x: wp.array(dtype=wp.vec3),
    mass: wp.array(dtype=float),
    radius: float,
    density: wp.array(dtype=float),
):
    i = wp.hash_grid_point_id(grid, wp.tid())
    sum = float(0.0)
    for j in wp.hash_grid_query(grid, x[i], radius):
        sum += mass[j] * weight(x[i] - x[j], radius)
    density[i] = sum
