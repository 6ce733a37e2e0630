# Gradient noise in one to four dimensions, with a separate random state for each thread.
import warp as wp


@wp.kernel
def noise(x: wp.array(dtype=wp.vec4), low: wp.array(dtype=wp.vec2), high: wp.array(dtype=wp.vec2)):
    i = wp.tid()
    p = x[i] * 0.5
    state = wp.rand_init(7, i)
    one = wp.noise(state, p[0])
    two = wp.noise(state, wp.vec2(p[0], p[1]))
    three = wp.noise(state, wp.vec3(p[0], p[1], p[2]))
    low[i] = wp.vec2(one, two)
    high[i] = wp.vec2(three, wp.noise(state, p) * p[0])
