# A matrix of rank one plus a small multiple of the identity, in double precision: condition number 100 and more.
import warp as wp


@wp.kernel
def ill_conditioned_inverse(
    u: wp.array(dtype=wp.vec3d),
    v: wp.array(dtype=wp.vec3d),
    out: wp.array(dtype=wp.vec3d),
):
    i = wp.tid()
    small = wp.identity(n=3, dtype=wp.float64) * wp.float64(0.01)
    m = wp.outer(u[i], u[i]) + small
    out[i] = wp.inverse(m) * v[i] * wp.float64(0.01)
