# Particles that move, bounce from two walls and add their energy to a total.
import warp as wp


@wp.func
def bounced(p: float, v: float, low: float, high: float):
    q = p
    w = v
    if p < low:
        q = 2.0 * low - p
        w = -v * 0.75
    elif p > high:
        q = 2.0 * high - p
        w = -v * 0.75
    return q, w


# domain: 0 <= steps <= 6
@wp.kernel
def particles_in_a_box(
    x: wp.array(dtype=wp.vec2),
    v: wp.array(dtype=wp.vec2),
    mass: wp.array(dtype=float),
    gravity: float,
    steps: int,
    energy: wp.array(dtype=float),
):
    i = wp.tid()
    p = x[i]
    u = v[i]
    dt = 0.125
    for s in range(steps):
        u = u + wp.vec2(0.0, gravity * dt)
        p = p + u * dt
        px, ux = bounced(p[0], u[0], -1.0, 1.0)
        py, uy = bounced(p[1], u[1], -1.5, 1.5)
        p = wp.vec2(px, py)
        u = wp.vec2(ux, uy)
    x[i] = p
    v[i] = u
    e = 0.5 * mass[i] * wp.length_sq(u) - mass[i] * gravity * p[1]
    wp.atomic_add(energy, 0, e)
