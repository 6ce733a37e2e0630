# Matrices that are not square: 2 x 3 by 3 x 2 both ways, and with the vectors that fit on each side.
import warp as wp

mat23 = wp.types.matrix(shape=(2, 3), dtype=float)
mat32 = wp.types.matrix(shape=(3, 2), dtype=float)


@wp.kernel
def rectangular_products(
    a: wp.array(dtype=mat23),
    b: wp.array(dtype=mat32),
    v: wp.array(dtype=wp.vec3),
    small: wp.array(dtype=wp.mat22),
    large: wp.array(dtype=wp.mat33),
    out: wp.array(dtype=wp.vec2),
):
    i = wp.tid()
    small[i] = a[i] * b[i] + wp.mat22(0.5, 0.0, -0.25, 1.0)
    large[i] = b[i] * a[i] - wp.transpose(a[i]) * wp.transpose(b[i]) * 0.5
    out[i] = a[i] * v[i] + (a[i] * v[i]) * (wp.transpose(b[i]) * b[i])
