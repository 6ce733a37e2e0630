# Functions overwrite array elements that they and the kernel read, so the gradient needs the replaced values.
import warp as wp


@wp.func
def bend(x: wp.array(dtype=float), i: int):
    x[i] = wp.sin(x[i]) + 0.5 * x[i] * x[i]


@wp.func
def scale(x: wp.array(dtype=float), i: int, factor: float):
    before = x[i]
    x[i] = before * factor
    return wp.cos(before * x[i])


@wp.kernel
def replaces_what_it_read(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    first = x[i]
    bend(x, i)
    bend(x, i)
    s = scale(x, i, y[i]) * first
    s += scale(x, i, first) * x[i]
    out[i] = s
