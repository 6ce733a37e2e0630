# One array bound to two parameters of a function, of which one is read and one is written: the input is also the
# output.
import warp as wp


@wp.func
def scaled_into(source: wp.array(dtype=float), target: wp.array(dtype=float), i: int, scale: float):
    target[i] = source[i] * scale + source[i] * source[i]
    return source[i]


@wp.func
def product(a: wp.array(dtype=float), b: wp.array(dtype=float), i: int):
    return a[i] * b[i]


@wp.kernel
def same_array_twice(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    changed = scaled_into(x, x, i, y[i])
    out[i] = product(x, x, i) + changed * product(y, x, i)
