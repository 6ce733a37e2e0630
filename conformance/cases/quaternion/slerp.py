# Spherical interpolation between rotations, at the ends' side and beyond the middle, with the parameter active.
import warp as wp


# domain: 0 <= t <= 1
@wp.kernel
def slerp(
    a: wp.array(dtype=wp.quat),
    b: wp.array(dtype=wp.quat),
    t: wp.array(dtype=float),
    out: wp.array(dtype=wp.quat),
):
    i = wp.tid()
    p = wp.normalize(a[i] + wp.quat(3.0, 0.0, 0.0, 3.0))
    q = wp.normalize(b[i] + wp.quat(0.0, 3.0, 0.0, 3.0))
    out[i] = wp.quat_slerp(p, q, t[i]) * 2.0 - wp.quat_slerp(q, p, 0.25) * t[i]
