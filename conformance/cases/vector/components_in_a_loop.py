# Components read and written at the index of a loop, next to the one written in the previous iteration.
import warp as wp


@wp.kernel
def components_in_a_loop(
    x: wp.array(dtype=wp.vec4),
    s: wp.array(dtype=float),
    out: wp.array(dtype=wp.vec4),
):
    i = wp.tid()
    v = x[i] * 0.5
    total = s[i]
    for c in range(4):
        total = total * 0.5 + v[c] + 0.25 * v[(c + 3) % 4]
        v[c] = v[c] * total
    out[i] = v * (1.0 + 0.125 * total)
