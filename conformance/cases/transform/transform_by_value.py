# A transform and a spatial vector passed by value: their gradients sum over all threads.
import warp as wp


@wp.kernel
def transform_by_value(
    p: wp.array(dtype=wp.vec3),
    pose: wp.transform,
    twist: wp.spatial_vector,
    out: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    out[i] = wp.transform_point(pose, p[i]) + wp.velocity_at_point(twist, p[i]) * p[i][0]
