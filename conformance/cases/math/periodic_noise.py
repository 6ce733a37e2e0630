# Noise that repeats after an integer period, in one to four dimensions.
import warp as wp


@wp.kernel
def periodic_noise(x: wp.array(dtype=wp.vec4), low: wp.array(dtype=wp.vec2), high: wp.array(dtype=wp.vec2)):
    i = wp.tid()
    p = x[i] * 0.5
    state = wp.rand_init(11)
    one = wp.pnoise(state, p[0], 3)
    two = wp.pnoise(state, wp.vec2(p[0], p[1]), 2, 5)
    three = wp.pnoise(state, wp.vec3(p[0], p[1], p[2]), px=4, py=3, pz=2)
    low[i] = wp.vec2(one, two)
    high[i] = wp.vec2(three, wp.pnoise(state, p, 2, 3, 4, 5) * p[1])
