# Inverses of two to four rows, each far from singular: they solve linear systems.
import warp as wp


@wp.kernel
def well_conditioned_inverse(
    a: wp.array(dtype=wp.mat22),
    b: wp.array(dtype=wp.mat33),
    c: wp.array(dtype=wp.mat44),
    v: wp.array(dtype=wp.vec4),
    out: wp.array(dtype=wp.vec2),
    middle: wp.array(dtype=wp.mat33),
    last: wp.array(dtype=wp.vec4),
):
    i = wp.tid()
    out[i] = wp.inverse(a[i] * 0.25 + wp.identity(n=2, dtype=float)) * wp.vec2(v[i][0], v[i][3])
    middle[i] = wp.inverse(b[i] * 0.2 + wp.identity(n=3, dtype=float)) * b[i]
    last[i] = wp.inverse(c[i] * 0.15 - 2.0 * wp.identity(n=4, dtype=float)) * v[i]
