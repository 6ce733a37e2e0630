# Tiles of structs, which a loop changes, and the numbers that functions compute from them.
import warp as wp

SIZE = wp.constant(4)


@wp.struct
class Ball:
    mass: float
    place: wp.vec3
    velocity: wp.vec3


@wp.func
def moved(ball: Ball, dt: float):
    ball.velocity = ball.velocity - ball.place * (0.5 * dt)
    ball.place = ball.place + ball.velocity * dt
    return ball


@wp.func
def energy(ball: Ball):
    return 0.5 * ball.mass * wp.dot(ball.velocity, ball.velocity)


@wp.kernel
def struct_tiles(
    balls: wp.array(dtype=Ball),
    later: wp.array(dtype=Ball),
    energies: wp.array(dtype=float),
    total: wp.array(dtype=float),
):
    i = wp.tid()
    t = wp.tile_load(balls, shape=SIZE, offset=i * SIZE)
    for _step in range(3):
        t = wp.tile_map(moved, t, 0.25)
    wp.tile_store(later, t, offset=i * SIZE)
    e = wp.tile_map(energy, t)
    wp.tile_store(energies, e * 2.0, offset=i * SIZE)
    wp.tile_store(total, wp.tile_sum(e), offset=i)
