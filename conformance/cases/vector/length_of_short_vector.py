# The length of a short vector under a large cotangent: their quotient overflows, and a component is zero.
import warp as wp


# domain: 0.5 <= x <= 2
@wp.kernel
def length_of_short_vector(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    v = wp.vec3(x[i] * 1.0e-18, 0.0 * y[i], y[i] * 1.0e-18)
    out[i] = 1.0e22 * wp.length(v)
