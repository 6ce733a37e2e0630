# Tests of all components of a vector, matrix and quaternion at once, and component-wise remainders.
import warp as wp


@wp.kernel
def classification_of_vectors(
    v: wp.array(dtype=wp.vec3),
    m: wp.array(dtype=wp.mat22),
    q: wp.array(dtype=wp.quat),
    found: wp.array(dtype=int),
    out: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    usual = wp.where(wp.isfinite(v[i]), 1, 0) + wp.where(wp.isfinite(m[i]), 2, 0) + wp.where(wp.isfinite(q[i]), 4, 0)
    infinite = wp.where(wp.isinf(v[i]), 8, 0) + wp.where(wp.isinf(m[i]), 16, 0) + wp.where(wp.isinf(q[i]), 32, 0)
    unknown = wp.where(wp.isnan(v[i]), 64, 0) + wp.where(wp.isnan(m[i]), 128, 0) + wp.where(wp.isnan(q[i]), 256, 0)
    found[i] = usual + infinite + unknown
    out[i] = wp.mod(v[i], wp.vec3(0.75, 1.25, 2.5)) * q[i][3]
