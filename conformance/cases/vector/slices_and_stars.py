# Parts of vectors by slices, and vectors spread over the arguments of others.
import warp as wp


@wp.kernel
def slices_and_stars(x: wp.array(dtype=wp.vec4), y: wp.array(dtype=wp.vec3), out: wp.array(dtype=wp.vec4)):
    i = wp.tid()
    v = x[i]
    inner = v[1:3]
    odd = v[1::2]
    out[i] = wp.vec4(*y[i], wp.dot(inner, odd)) + wp.vec4(v[0], *(inner * 2.0), v[-1])
