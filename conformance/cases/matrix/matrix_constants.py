# Constants outside the kernel: a matrix of 18 components, a matrix with equal components, and a quaternion.
import warp as wp

mat63 = wp.types.matrix(shape=(6, 3), dtype=wp.float32)
SPREAD = mat63(1.0, 0.0, 0.5, 0.0, 1.0, 0.0, -2.0, 0.0, 1.0, 3.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.25, 0.0, 2.0)
THIRDS = wp.mat22(0.3333333432674408)
TURN = wp.constant(wp.quat(0.0, 0.6, 0.0, 0.8))


@wp.kernel
def matrix_constants(
    x: wp.array(dtype=wp.vec3), y: wp.array(dtype=wp.vec2), out: wp.array(dtype=float), turned: wp.array(dtype=wp.vec3)
):
    i = wp.tid()
    w = SPREAD * x[i]
    out[i] = w[0] * w[3] + w[5] + wp.dot(THIRDS * y[i], y[i])
    turned[i] = wp.quat_rotate(TURN, x[i])
