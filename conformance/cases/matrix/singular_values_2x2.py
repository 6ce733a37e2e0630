# The singular value decomposition of a 2 x 2 matrix, and a matrix function made of it.
import warp as wp


@wp.kernel
def singular_values_2x2(
    m: wp.array(dtype=wp.mat22),
    w: wp.array(dtype=wp.vec2),
    values: wp.array(dtype=wp.vec2),
    nearest: wp.array(dtype=wp.mat22),
    right: wp.array(dtype=wp.mat22),
):
    i = wp.tid()
    u, s, v = wp.svd2(m[i])
    values[i] = wp.cw_mul(s, w[i])
    nearest[i] = u * wp.transpose(v) * w[i][0]
    right[i] = v * w[i][1]
