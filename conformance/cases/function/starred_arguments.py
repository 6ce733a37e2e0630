# Vectors, a slice, a quaternion and the rows of a matrix are spread over the parameters of functions.
import warp as wp


@wp.func
def blend(a: float, b: float, c: float = 0.25):
    return a * c + b * (1.0 - c)


@wp.func
def between(a: wp.vec2, b: wp.vec2):
    return wp.dot(a, b) - wp.length_sq(a - b)


@wp.kernel
def starred_arguments(
    x: wp.array(dtype=wp.vec4),
    q: wp.array(dtype=wp.quat),
    m: wp.array(dtype=wp.mat22),
    out: wp.array(dtype=float),
    angle: wp.array(dtype=float),
):
    i = wp.tid()
    v = x[i]
    out[i] = blend(*v[1:]) + blend(*v[:2]) * blend(v[3], *v[0:1], c=0.5) + between(*m[i])
    angle[i] = wp.atan2(*v[2:]) + wp.length(wp.quat(*q[i]))
