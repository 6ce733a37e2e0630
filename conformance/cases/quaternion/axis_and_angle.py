# A quaternion from an axis, not of length one, and an angle, beyond half a turn too; both carry a derivative.
import warp as wp


@wp.kernel
def axis_and_angle(
    axis: wp.array(dtype=wp.vec3),
    angle: wp.array(dtype=float),
    v: wp.array(dtype=wp.vec3),
    out: wp.array(dtype=wp.vec3),
    turn: wp.array(dtype=wp.quat),
):
    i = wp.tid()
    turn[i] = wp.quat_from_axis_angle(axis[i], angle[i] * 3.0)
    unit = wp.normalize(axis[i] + wp.vec3(3.0, 0.5, 0.0))
    out[i] = wp.quat_rotate(wp.quat_from_axis_angle(unit, angle[i]), v[i])
