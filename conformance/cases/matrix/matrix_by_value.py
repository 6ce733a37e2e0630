# A matrix and a scalar passed by value: their gradients sum over all threads.
import warp as wp


@wp.kernel
def matrix_by_value(
    x: wp.array(dtype=wp.vec3),
    m: wp.mat33,
    shift: float,
    out: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    out[i] = m * x[i] + x[i] * m * shift + m[1] * x[i][2]
