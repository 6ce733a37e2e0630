# sqrt(dot(v, v)) written out: the same operand twice under a root.
import warp as wp


@wp.kernel
def root_of_dot(v: wp.array(dtype=wp.vec3), s: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = wp.sqrt(wp.dot(v[i], v[i]) + 0.01) * s[i] + wp.sqrt(wp.dot(v[i], v[i]))
