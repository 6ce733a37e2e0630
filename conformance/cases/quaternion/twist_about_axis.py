# The part of a rotation about an axis, as a quaternion and as an angle with and without its sign.
import warp as wp


# domain: 0.2 <= q <= 1
@wp.kernel
def twist_about_axis(
    q: wp.array(dtype=wp.quat),
    v: wp.array(dtype=wp.vec3),
    twist: wp.array(dtype=wp.quat),
    angle: wp.array(dtype=float),
):
    i = wp.tid()
    axis = wp.normalize(v[i] + wp.vec3(4.0))
    back = wp.quat_inverse(q[i])
    twist[i] = wp.quat_twist(axis, q[i]) * wp.quat_twist(q=back, axis=axis)
    angle[i] = wp.quat_twist_angle(axis, back) * 0.5 + wp.quat_twist_angle_signed(axis, back)
