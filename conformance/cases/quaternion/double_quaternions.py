# The same operations on quaternions of f64.
import warp as wp


@wp.kernel
def double_quaternions(
    a: wp.array(dtype=wp.quatd),
    v: wp.array(dtype=wp.vec3d),
    out: wp.array(dtype=wp.vec3d),
    turn: wp.array(dtype=wp.quatd),
):
    i = wp.tid()
    q = wp.normalize(a[i] + wp.quatd(wp.float64(0.0), wp.float64(3.0), wp.float64(0.0), wp.float64(3.0)))
    turn[i] = q * wp.quat_inverse(a[i])
    out[i] = wp.quat_rotate(q, v[i]) * wp.quat_to_matrix(q)
