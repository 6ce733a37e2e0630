# Angles of a rotation about three axes, in two orders, and the rotation of these angles.
import warp as wp


@wp.kernel
def euler_angles(
    q: wp.array(dtype=wp.quat),
    v: wp.array(dtype=wp.vec3),
    angles: wp.array(dtype=wp.vec3),
    proper: wp.array(dtype=wp.vec3),
    out: wp.array(dtype=wp.quat),
):
    i = wp.tid()
    unit = wp.normalize(q[i])
    angles[i] = wp.quat_to_euler(unit, 2, 0, 1)
    proper[i] = wp.quat_to_euler(unit, 0, 1, 0)
    out[i] = wp.quat_from_euler(v[i], 2, 0, 1) + wp.quat_from_euler(e=v[i] * 0.5, i=1, j=2, k=0) * 0.5
