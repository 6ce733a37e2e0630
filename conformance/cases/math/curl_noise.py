# Fields without divergence made of noise: two octaves in the plane, one in space, and one in space and time.
import warp as wp


@wp.kernel
def curl_noise(
    x: wp.array(dtype=wp.vec4),
    gain: wp.array(dtype=float),
    plane: wp.array(dtype=wp.vec2),
    space: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    p = x[i] * 0.5
    state = wp.rand_init(5, i)
    plane[i] = wp.curlnoise(state, wp.vec2(p[0], p[1]), octaves=wp.uint32(2), gain=gain[i])
    field = wp.curlnoise(state, wp.vec3(p[0], p[1], p[2]))
    space[i] = field * gain[i] + wp.curlnoise(state, p, wp.uint32(1), 2.0, 0.5)
