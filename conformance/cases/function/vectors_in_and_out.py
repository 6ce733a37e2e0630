# A function of vectors that returns a vector, and one that takes it apart.
import warp as wp


@wp.func
def reflected(v: wp.vec3, n: wp.vec3):
    return v - n * (2.0 * wp.dot(v, n) / (0.5 + wp.length_sq(n)))


@wp.func
def tilt(v: wp.vec3):
    return v[0] * v[1] - v[2]


@wp.kernel
def vectors_in_and_out(v: wp.array(dtype=wp.vec3), n: wp.array(dtype=wp.vec3), out: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    r = reflected(v[i], n[i])
    out[i] = reflected(r, v[i]) * tilt(r)
