# A reflection, chosen by the sign of a dot product, else the vector itself.
import warp as wp


@wp.kernel
def reflection(
    v: wp.array(dtype=wp.vec3),
    n: wp.array(dtype=wp.vec3),
    out: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    m = wp.normalize(n[i])
    d = wp.dot(v[i], m)
    r = v[i]
    if d < 0.0:
        r = v[i] - 2.0 * d * m
    out[i] = r + 0.25 * n[i]
