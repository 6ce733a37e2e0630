# A vector by value, used whole and by component.
import warp as wp


@wp.kernel
def vector_by_value(x: wp.array(dtype=wp.vec3), g: wp.vec3, out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = wp.dot(x[i], g) + g[1] * x[i][2] - wp.length_sq(g) * 0.25
