# Elements read and written at the indices of loops: a triangular solve in place, and the trace.
import warp as wp


@wp.kernel
def elements_in_loops(
    x: wp.array(dtype=wp.mat33),
    v: wp.array(dtype=wp.vec3),
    out: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    m = x[i]
    b = v[i]
    rest = float(0.0)
    for r in range(3):
        m[r, r] = m[r, r] * m[r, r] + 1.0 + 0.25 * m[(r + 2) % 3, (r + 2) % 3] * m[r, r]
    for r in range(3):
        total = b[r]
        for c in range(r):
            total = total - m[r, c] * b[c]
        rest += total * total
        b[r] = total / m[r, r]
    out[i] = b + v[i] * (wp.trace(m) + 0.125 * rest)
