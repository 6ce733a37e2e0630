# Calls as arguments of calls, three deep.
import warp as wp


@wp.func
def square(x: float):
    return x * x


@wp.func
def smooth(x: float):
    return x / wp.sqrt(1.0 + square(x))


@wp.func
def mixed(a: float, b: float):
    return smooth(a) * square(b) + smooth(b - a)


@wp.kernel
def nested_calls(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = mixed(smooth(x[i] + square(y[i])), smooth(mixed(y[i], 0.5)))
