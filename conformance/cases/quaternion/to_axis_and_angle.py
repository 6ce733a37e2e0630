# Axis and angle out of a quaternion, on both sides of w = 0, used in turn and put together again.
import warp as wp


@wp.kernel
def to_axis_and_angle(q: wp.array(dtype=wp.quat), v: wp.array(dtype=wp.vec3), out: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    axis, angle = wp.quat_to_axis_angle(q[i])
    half = wp.quat_from_axis_angle(axis, 0.5 * angle)
    out[i] = wp.quat_rotate(half, v[i]) + axis * angle
