# There and back: a transform, its inverse and a point that returns, with a rotation of length one.
import warp as wp


@wp.kernel
def inverse(
    pose: wp.array(dtype=wp.transform),
    p: wp.array(dtype=wp.vec3),
    out: wp.array(dtype=wp.transform),
    point: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    q = wp.normalize(wp.transform_get_rotation(pose[i]) + wp.quat(0.0, 0.0, 3.0, 3.0))
    t = wp.transform(wp.transform_get_translation(pose[i]), q)
    back = wp.transform_inverse(t)
    out[i] = back
    point[i] = wp.transform_point(back, p[i]) + wp.transform_point(t, p[i]) * p[i][2]
