# A rotation by an active angle, from components to components.
import warp as wp


@wp.kernel
def rotation_in_the_plane(
    p: wp.array(dtype=wp.vec2),
    angle: wp.array(dtype=float),
    out: wp.array(dtype=wp.vec2),
):
    i = wp.tid()
    c = wp.cos(angle[i])
    s = wp.sin(angle[i])
    out[i] = wp.vec2(c * p[i][0] - s * p[i][1], s * p[i][0] + c * p[i][1]) + wp.vec2(angle[i])
