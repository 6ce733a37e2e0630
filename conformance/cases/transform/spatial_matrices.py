# A spatial inertia moved by the adjoint of a frame: products of 6 x 6 matrices, their blocks, and a vector.
import warp as wp


@wp.kernel
def spatial_matrices(
    q: wp.array(dtype=wp.quat),
    p: wp.array(dtype=wp.vec3),
    inertia: wp.array(dtype=wp.spatial_matrix),
    v: wp.array(dtype=wp.spatial_vector),
    out: wp.array(dtype=wp.spatial_vector),
):
    i = wp.tid()
    r = wp.quat_to_matrix(q[i] * 0.5)
    adjoint = wp.spatial_adjoint(r, wp.skew(p[i]) * r)
    out[i] = wp.transpose(adjoint) * (inertia[i] * (adjoint * v[i])) + v[i]
