# A vector of five components, a length for which Warp has no name.
import warp as wp


vec5 = wp.types.vector(length=5, dtype=float)


@wp.kernel
def length_five(
    x: wp.array(dtype=vec5),
    s: wp.array(dtype=float),
    out: wp.array(dtype=vec5),
    norm: wp.array(dtype=float),
):
    i = wp.tid()
    v = x[i] * s[i] + vec5(0.5, -0.5, 0.25, 1.0, 2.0)
    v[4] = v[0] * v[3]
    out[i] = v
    norm[i] = wp.length(v) + wp.dot(v, x[i])
