# A function that returns from four places, one of them inside nested branches.
import warp as wp


@wp.func
def shaped(x: float, y: float):
    if x > 1.0:
        return x * y
    if x > 0.0:
        if y > 0.25:
            return x + y * y
        return x - y
    return -x * 0.5


@wp.kernel
def returns_in_branches(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = shaped(x[i], y[i]) * shaped(y[i], x[i] * 0.5)
