# The matrix of a quaternion that has another length, multiplied: column by column the rotated unit vectors.
import warp as wp


@wp.kernel
def to_matrix(
    q: wp.array(dtype=wp.quat),
    v: wp.array(dtype=wp.vec3),
    out: wp.array(dtype=wp.mat33),
    turned: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    m = wp.quat_to_matrix(q[i])
    out[i] = m * wp.transpose(m) * 0.5
    turned[i] = m * v[i] - v[i] * m
