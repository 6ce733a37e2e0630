# The rotation by roll, pitch and yaw, applied to a vector: three angles in one product.
import warp as wp


@wp.kernel
def roll_pitch_yaw(
    angles: wp.array(dtype=wp.vec3),
    v: wp.array(dtype=wp.vec3),
    out: wp.array(dtype=wp.vec3),
    turn: wp.array(dtype=wp.quat),
):
    i = wp.tid()
    q = wp.quat_rpy(angles[i][0], angles[i][1] * 0.5, angles[i][2] * 2.0)
    turn[i] = q * angles[i][2]
    out[i] = wp.quat_rotate(q, v[i]) + angles[i]
