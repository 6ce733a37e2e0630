# Textures of one, two and three dimensions, sampled inside, between values and past the ends.
import warp as wp


@wp.func
def brightness(image: wp.Texture2D, at: wp.vec2):
    color = wp.texture_sample(image, at, dtype=wp.vec4)
    return color[0] + 0.5 * color[3]


# domain: -0.25 <= places <= 1.25
@wp.kernel
def textures(
    line: wp.Texture1D,
    image: wp.Texture2D,
    volume: wp.Texture3D,
    places: wp.array(dtype=wp.vec3),
    out: wp.array(dtype=float),
    pairs: wp.array(dtype=wp.vec2),
    colors: wp.array(dtype=wp.vec4),
):
    i = wp.tid()
    p = places[i]
    out[i] = wp.texture_sample(line, p[0], dtype=float) + brightness(image, wp.vec2(p[1], p[2]))
    pairs[i] = wp.texture_sample(image, p[2], p[0], dtype=wp.vec2)
    colors[i] = wp.texture_sample(volume, p, dtype=wp.vec4)
