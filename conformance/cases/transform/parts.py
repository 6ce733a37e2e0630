# Translation and rotation taken out by function and by name, put together again with others.
import warp as wp


@wp.kernel
def parts(
    a: wp.array(dtype=wp.transform),
    s: wp.array(dtype=float),
    out: wp.array(dtype=wp.transform),
    total: wp.array(dtype=float),
):
    i = wp.tid()
    p = wp.transform_get_translation(a[i]) * s[i]
    q = wp.transform_get_rotation(a[i])
    t = wp.transform(p + a[i].p, q * a[i].q)
    total[i] = t.p[1] * q.w + wp.dot(a[i].q, q) - t[2] * t[6]
    out[i] = t
