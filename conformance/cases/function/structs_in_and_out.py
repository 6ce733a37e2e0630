# A function that takes a struct by value and returns another one, of which fields are read.
import warp as wp


@wp.struct
class State:
    position: wp.vec2
    speed: float


@wp.func
def advanced(s: State, dt: float):
    t = State()
    t.position = s.position + wp.vec2(s.speed * dt, dt)
    t.speed = s.speed * 0.9 - s.position[1] * dt
    return t


@wp.kernel
def structs_in_and_out(s: State, dt: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    t = advanced(advanced(s, dt[i]), dt[i] * 0.5)
    out[i] = t.position[0] * t.speed + t.position[1]
