# Vectors of integers: sums, products, dot, components; a float output depends on one of them.
import warp as wp


# domain: -9 <= a <= 9
# domain: -9 <= b <= 9
@wp.kernel
def integer_vectors(
    a: wp.array(dtype=wp.vec3i),
    b: wp.array(dtype=wp.vec3i),
    x: wp.array(dtype=float),
    out: wp.array(dtype=wp.vec3i),
    scaled: wp.array(dtype=float),
):
    i = wp.tid()
    c = a[i] * 3 - wp.cw_mul(a[i], b[i])
    c[1] = wp.dot(a[i], b[i])
    out[i] = c + -b[i]
    scaled[i] = x[i] * float(c[2])
