# Points and directions moved by a 4 x 4 matrix, with the division of a perspective.
import warp as wp


@wp.kernel
def projection(
    view: wp.array(dtype=wp.mat44),
    p: wp.array(dtype=wp.vec3),
    out: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    point = wp.transform_point(view[i], p[i])
    direction = wp.transform_vector(view[i], p[i])
    depth = view[i] * wp.vec4(p[i][0], p[i][1], p[i][2], 1.0)
    out[i] = point / (depth[3] * depth[3] + 1.0) + direction * 0.5
