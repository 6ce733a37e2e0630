# Vectors of f16: sums, products by a scalar, and a component.
import warp as wp


@wp.kernel
def half_vectors(v: wp.array(dtype=wp.vec3h), x: wp.array(dtype=wp.float16), out: wp.array(dtype=wp.vec3h)):
    i = wp.tid()
    out[i] = (v[i] + v[i] * x[i]) * wp.float16(0.5) - v[i] * v[i][1]
