# Vectors rotated there and back by quaternions of length one.
import warp as wp


@wp.kernel
def rotation_of_vectors(
    q: wp.array(dtype=wp.quat),
    v: wp.array(dtype=wp.vec3),
    out: wp.array(dtype=wp.vec3),
    back: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    r = wp.normalize(q[i] + wp.quat(0.0, 0.0, 0.0, 4.0))
    out[i] = wp.quat_rotate(r, v[i]) * v[i][0]
    back[i] = wp.quat_rotate_inv(r, v[i]) + wp.vec3(1.0, 0.5, -0.25)
