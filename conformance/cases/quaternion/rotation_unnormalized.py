# quat_rotate of a quaternion that has another length: its formula, not a rotation, and the formula's derivative.
import warp as wp


@wp.kernel
def rotation_unnormalized(
    q: wp.array(dtype=wp.quat),
    v: wp.array(dtype=wp.vec3),
    out: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    out[i] = wp.quat_rotate(q[i], v[i]) + wp.quat_rotate_inv(q[i] * 0.5, v[i]) * 2.0
