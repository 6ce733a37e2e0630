# Rows read as vectors, replaced by vectors, and read again; a negative index counts from the end.
import warp as wp


@wp.kernel
def row_access(
    x: wp.array(dtype=wp.mat33),
    v: wp.array(dtype=wp.vec3),
    out: wp.array(dtype=wp.mat33),
):
    i = wp.tid()
    m = x[i]
    first = m[0]
    m[0] = wp.cross(first, m[1])
    m[2] = m[2] * 0.5 + v[i] * wp.dot(m[1], first)
    m[1] = m[-1] - m[0]
    out[i] = m
