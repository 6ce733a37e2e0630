# One name for two functions: the argument's type chooses.
import warp as wp


@wp.func
def magnitude(x: float):
    return wp.abs(x) + 0.5


@wp.func
def magnitude(v: wp.vec2):
    return wp.length_sq(v) + v[0]


@wp.kernel
def overloads(x: wp.array(dtype=float), v: wp.array(dtype=wp.vec2), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = magnitude(x[i]) * magnitude(v[i])
