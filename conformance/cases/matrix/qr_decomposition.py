# The QR decomposition of a 3 x 3 matrix: a rotation and an upper triangular matrix, each with its own weights.
import warp as wp


@wp.kernel
def qr_decomposition(
    m: wp.array(dtype=wp.mat33),
    v: wp.array(dtype=wp.vec3),
    rotation: wp.array(dtype=wp.mat33),
    triangle: wp.array(dtype=wp.mat33),
    solution: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    q, r = wp.qr3(m[i])
    rotation[i] = q * v[i][0]
    triangle[i] = r * v[i][1]
    solution[i] = wp.transpose(q) * v[i]
