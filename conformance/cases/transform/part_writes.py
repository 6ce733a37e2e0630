# Translation and rotation of a transform replaced one by one, and components of it.
import warp as wp


@wp.kernel
def part_writes(
    a: wp.array(dtype=wp.transform),
    v: wp.array(dtype=wp.vec3),
    out: wp.array(dtype=wp.transform),
):
    i = wp.tid()
    t = a[i]
    t.p = t.p * 2.0 + v[i]
    t.q = wp.quat_inverse(t.q) * wp.quat(v[i], 0.5)
    t[0] = t[1] * t[5]
    out[i] = t
