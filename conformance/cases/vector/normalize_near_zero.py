# normalize of short vectors: the derivative grows as the length shrinks.
import warp as wp


# domain: -0.001 <= v <= 0.001
@wp.kernel
def normalize_near_zero(
    v: wp.array(dtype=wp.vec3),
    w: wp.array(dtype=wp.vec3),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    out[i] = wp.dot(wp.normalize(v[i]), w[i])
