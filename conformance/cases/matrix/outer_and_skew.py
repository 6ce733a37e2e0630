# Outer products of vectors of unlike lengths, and the matrix of a cross product.
import warp as wp

mat32 = wp.types.matrix(shape=(3, 2), dtype=float)


@wp.kernel
def outer_and_skew(
    a: wp.array(dtype=wp.vec3),
    b: wp.array(dtype=wp.vec2),
    out: wp.array(dtype=mat32),
    turned: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    m = wp.outer(a[i], b[i])
    out[i] = wp.skew(a[i] * 2.0) * m + m * 0.5
    turned[i] = wp.skew(a[i]) * wp.vec3(b[i][0], 1.0, b[i][1]) + a[i]
