# The closest points of two segments: inside both, at ends, and of a segment that is a point.
import warp as wp


@wp.kernel
def closest_points_of_segments(
    p: wp.array(dtype=wp.vec3),
    q: wp.array(dtype=wp.vec3),
    r: wp.array(dtype=wp.vec3),
    s: wp.array(dtype=wp.vec3),
    of_lines: wp.array(dtype=wp.vec3),
    of_points: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    of_lines[i] = wp.closest_point_edge_edge(p[i], q[i], r[i], s[i], 1.0e-6)
    first = wp.closest_point_edge_edge(p[i], p[i], r[i], s[i], epsilon=1.0e-6)
    second = wp.closest_point_edge_edge(p[i], q[i], r[i], r[i], 1.0e-6)
    of_points[i] = first + second * wp.closest_point_edge_edge(p[i], p[i], r[i], r[i], 1.0e-6)[2]
