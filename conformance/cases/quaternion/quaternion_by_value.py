# A quaternion passed by value: its gradient sums over all threads.
import warp as wp


@wp.kernel
def quaternion_by_value(
    v: wp.array(dtype=wp.vec3),
    q: wp.quat,
    out: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    out[i] = wp.quat_rotate(q, v[i]) + wp.quat_rotate(wp.quat_inverse(q), v[i]) * q[3]
