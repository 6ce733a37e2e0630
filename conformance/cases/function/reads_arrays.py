# A function that takes an array and reads several of its elements.
import warp as wp


@wp.func
def average(x: wp.array(dtype=float), i: int, w: float):
    return (x[i] + x[i + 1] * w + x[i + 2] * w * w) / (1.5 + w * w)


@wp.kernel
def reads_arrays(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = average(x, i, y[i]) * average(y, 2 * i, 0.5)
