# Random points of every shape, used as weights.
import warp as wp


@wp.kernel
def random_points(
    x: wp.array(dtype=wp.vec3),
    plane: wp.array(dtype=wp.vec2),
    space: wp.array(dtype=wp.vec3),
    surface: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    state = wp.rand_init(17, i)
    flat = wp.sample_triangle(state) + 2.0 * wp.sample_unit_ring(state) + 4.0 * wp.sample_unit_disk(state)
    plane[i] = (flat + wp.sample_unit_square(state)) * x[i][0]
    inside = wp.sample_unit_sphere(state) + 2.0 * wp.sample_unit_hemisphere(state)
    space[i] = wp.cw_mul(inside + wp.sample_unit_cube(state), x[i])
    outside = wp.sample_unit_sphere_surface(state) - 2.0 * wp.sample_unit_hemisphere_surface(state)
    surface[i] = wp.cw_mul(outside, x[i])
