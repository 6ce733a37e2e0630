# A vector of bool records which components pass a test; its components are read, replaced and stored.
import warp as wp

vec3b = wp.types.vector(length=3, dtype=wp.bool)


@wp.func
def inside(p: wp.vec3, limit: float):
    return vec3b(wp.abs(p[0]) < limit, wp.abs(p[1]) < limit, wp.abs(p[2]) < limit)


@wp.kernel
def vectors_of_bool(
    x: wp.array(dtype=wp.vec3),
    flags: wp.array(dtype=vec3b),
    out: wp.array(dtype=float),
    stored: wp.array(dtype=vec3b),
    large: wp.array(dtype=wp.bool),
):
    i = wp.tid()
    near = inside(x[i], 1.0)
    s = float(0.0)
    for k in range(3):
        if near[k]:
            s += x[i][k] * x[i][k]
    if flags[i][0] and near[1]:
        s = s * 2.0
    near[1] = s > 0.5
    chosen = wp.where(s > 1.0, near, vec3b(True))
    stored[i] = chosen
    large[i] = chosen[-1]
    out[i] = s
