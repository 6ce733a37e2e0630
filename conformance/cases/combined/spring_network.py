# Springs of a ring: gather two ends, a nonlinear force, scatter to both, and the energy into a total.
import warp as wp


@wp.kernel
def spring_network(
    x: wp.array(dtype=wp.vec2),
    rest: wp.array(dtype=float),
    stiffness: wp.array(dtype=float),
    force: wp.array(dtype=wp.vec2),
    energy: wp.array(dtype=float),
):
    i = wp.tid()
    n = x.shape[0]
    a = i
    b = (i + 1) % n
    d = x[b] - x[a]
    length = wp.sqrt(wp.length_sq(d) + 0.01)
    stretch = length - wp.abs(rest[i])
    k = 0.5 + stiffness[i] * stiffness[i]
    pull = k * stretch
    if stretch < 0.0:
        pull = pull * 0.5
    f = d * (pull / length)
    wp.atomic_add(force, a, f)
    wp.atomic_sub(force, b, f)
    wp.atomic_add(energy, 0, 0.5 * pull * stretch)
