# normalize of exactly zero is zero and has gradient zero, and half of the inputs are zero; the rest of the kernel still
# runs.
import warp as wp


# domain: 0 <= kept <= 1
@wp.kernel
def normalize_at_zero(
    v: wp.array(dtype=wp.vec3),
    w: wp.array(dtype=wp.vec3),
    kept: wp.array(dtype=int),
    out: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    u = v[i] * float(kept[i])
    out[i] = wp.normalize(u) * 2.0 + wp.normalize(w[i]) + v[i]
