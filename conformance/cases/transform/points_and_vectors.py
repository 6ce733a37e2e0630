# A point is rotated and moved, a vector only rotated.
import warp as wp


@wp.kernel
def points_and_vectors(
    pose: wp.array(dtype=wp.transform),
    p: wp.array(dtype=wp.vec3),
    out: wp.array(dtype=wp.vec3),
    direction: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    out[i] = wp.transform_point(pose[i], p[i]) * p[i][1]
    direction[i] = wp.transform_vector(pose[i], p[i] * 2.0) + wp.vec3(0.5, 0.0, -1.0)
