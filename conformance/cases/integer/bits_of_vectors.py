# Bit operations on whole vectors of integers, written as operators and as functions.
import warp as wp


@wp.kernel
def bits_of_vectors(
    v: wp.array(dtype=wp.vec3i),
    w: wp.array(dtype=wp.vec3i),
    x: wp.array(dtype=float),
    masked: wp.array(dtype=wp.vec3i),
    moved: wp.array(dtype=wp.vec3i),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    masked[i] = ((v[i] & w[i]) | wp.vec3i(16, 32, 64)) ^ ~w[i]
    by = w[i] & wp.vec3i(3, 3, 3)
    moved[i] = ((v[i] & wp.vec3i(255, 255, 255)) << by) + (v[i] >> by) + wp.invert(wp.bit_or(v[i], w[i]))
    out[i] = x[i] * float(masked[i][1] & 7)
