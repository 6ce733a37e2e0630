# Components written one after another, one of them twice, one from the others.
import warp as wp


@wp.kernel
def component_writes(
    x: wp.array(dtype=wp.vec3),
    s: wp.array(dtype=float),
    out: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    v = x[i]
    v[0] = s[i] * v[1]
    v[2] = v[0] * v[2] + 1.0
    v[0] = v[0] - v[2] * v[2]
    v.y = 2.0 * v.y
    out[i] = v + x[i] * 0.5
