# The same operations on matrices of f64.
import warp as wp


@wp.kernel
def double_matrices(
    a: wp.array(dtype=wp.mat33d),
    v: wp.array(dtype=wp.vec3d),
    out: wp.array(dtype=wp.mat33d),
    quadratic: wp.array(dtype=wp.float64),
):
    i = wp.tid()
    symmetric = (a[i] + wp.transpose(a[i])) * wp.float64(0.5)
    quadratic[i] = wp.dot(v[i], symmetric * v[i]) + wp.determinant(a[i])
    out[i] = symmetric * a[i] / wp.float64(3.0) - wp.outer(v[i], v[i])
