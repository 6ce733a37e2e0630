# Slices of a vector and of a quaternion are replaced, increased and scaled; a slice may overlap the slice it comes from.
import warp as wp


@wp.kernel
def slice_assignment(
    x: wp.array(dtype=wp.vec4),
    y: wp.array(dtype=wp.vec3),
    q: wp.array(dtype=wp.quat),
    out: wp.array(dtype=wp.vec4),
    turned: wp.array(dtype=wp.quat),
):
    i = wp.tid()
    v = x[i]
    v[0:3] = y[i]
    v[1:] = v[:-1] * v[3]
    v[::2] += wp.vec2(y[i][0], 0.5)
    v[-2:] *= 0.75
    out[i] = v
    r = q[i]
    r[0:3] = wp.cross(r[0:3], y[i])
    r[::-3] -= v[::-2]
    turned[i] = r
