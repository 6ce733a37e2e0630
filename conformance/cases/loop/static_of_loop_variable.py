# Variables of loops with known ranges used in wp.static, so that the body is copied for each of their values.
import warp as wp


@wp.kernel
def static_of_loop_variable(x: wp.array(dtype=wp.vec4), out: wp.array(dtype=float), last: wp.array(dtype=float)):
    i = wp.tid()
    v = x[i]
    s = float(0.0)
    for k in range(3):
        pair = v[wp.static(k) : wp.static(k + 2)]
        s = s * v[k] + wp.static(1.0 / float(k + 2)) * wp.length_sq(pair)
        for j in range(k):
            s += v[wp.static(3 - j)] * float(wp.static(10 * k + j))
        if wp.static(k % 2 == 1):
            v[k] = wp.sin(s)
    out[i] = s
    last[i] = v[1] * s
