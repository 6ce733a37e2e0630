# A matrix made of translation, rotation and scale, and the parts of another matrix.
import warp as wp


@wp.kernel
def composed_and_decomposed(
    position: wp.array(dtype=wp.vec3),
    q: wp.array(dtype=wp.quat),
    scale: wp.array(dtype=wp.vec3),
    m: wp.array(dtype=wp.mat44),
    whole: wp.array(dtype=wp.mat44),
    moved: wp.array(dtype=wp.vec3),
    turned: wp.array(dtype=wp.quat),
):
    i = wp.tid()
    whole[i] = wp.transform_compose(position[i], wp.normalize(q[i]), scale[i])
    p, r, s = wp.transform_decompose(m[i])
    moved[i] = p + wp.cw_mul(s, scale[i])
    turned[i] = r * s[0]
