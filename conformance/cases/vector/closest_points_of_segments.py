# The closest points of two segments: inside both, at ends, and of segments that are points.
import warp as wp


# domain: 1e-6 <= epsilon <= 1e-4
@wp.kernel
def closest_points_of_segments(
    p: wp.array(dtype=wp.vec3),
    q: wp.array(dtype=wp.vec3),
    r: wp.array(dtype=wp.vec3),
    s: wp.array(dtype=wp.vec3),
    epsilon: float,
    of_lines: wp.array(dtype=wp.vec3),
    of_points: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    of_lines[i] = wp.closest_point_edge_edge(p[i], q[i], r[i], s[i], epsilon)
    first_end = q[i]
    second_end = s[i]
    if i % 2 == 1:
        first_end = p[i]
    if i % 4 > 1:
        second_end = r[i]
    of_points[i] = wp.closest_point_edge_edge(p[i], first_end, r[i], second_end, epsilon=epsilon)
