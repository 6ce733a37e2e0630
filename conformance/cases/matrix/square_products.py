# Products of square matrices by * and @ and with vectors on either side: the order of factors matters.
import warp as wp


@wp.kernel
def square_products(
    a: wp.array(dtype=wp.mat33),
    b: wp.array(dtype=wp.mat33),
    v: wp.array(dtype=wp.vec3),
    out: wp.array(dtype=wp.mat33),
    moved: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    ab = a[i] * b[i]
    out[i] = ab - b[i] @ a[i] * 0.5
    moved[i] = ab * v[i] + v[i] * b[i] + wp.vec3(0.5, -0.25, 1.0)
