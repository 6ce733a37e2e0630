# normalize of exactly zero is zero and has gradient zero; the rest of the kernel goes on.
import warp as wp


# domain: 0 <= v <= 0
@wp.kernel
def normalize_at_zero(
    v: wp.array(dtype=wp.vec3),
    w: wp.array(dtype=wp.vec3),
    out: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    out[i] = wp.normalize(v[i]) * 2.0 + wp.normalize(w[i]) + v[i]
