# One function called twice with its arguments exchanged, and a third time with its own result.
import warp as wp


@wp.func
def blend(a: float, b: float):
    return a * wp.sin(b) + 0.5 * a * a


@wp.kernel
def called_twice(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    p = blend(x[i], y[i])
    q = blend(y[i], x[i])
    out[i] = blend(p, q) - p * q
