# The three products of vectors and the length, of vectors that no symmetry relates.
import warp as wp


@wp.kernel
def dot_cross_length(
    a: wp.array(dtype=wp.vec3), b: wp.array(dtype=wp.vec3), out: wp.array(dtype=float), normal: wp.array(dtype=wp.vec3)
):
    i = wp.tid()
    n = wp.cross(a[i], b[i])
    normal[i] = n + 0.5 * a[i]
    out[i] = wp.dot(a[i], b[i]) + wp.length(n + wp.vec3(0.5, 1.0, -0.5)) - wp.length_sq(b[i]) * 0.25
