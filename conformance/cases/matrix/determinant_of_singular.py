# A matrix of rank one: its determinant is zero, and so is the gradient of a 3 x 3 one; of a 2 x 2 one it is not.
import warp as wp


@wp.kernel
def determinant_of_singular(
    u: wp.array(dtype=wp.vec3),
    v: wp.array(dtype=wp.vec2),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    flat = wp.outer(u[i], u[i])
    thin = wp.outer(v[i], wp.vec2(1.0, -2.0))
    out[i] = wp.determinant(flat) + wp.determinant(thin + wp.mat22(0.0, 1.0, 0.0, 0.0)) + wp.trace(flat)
