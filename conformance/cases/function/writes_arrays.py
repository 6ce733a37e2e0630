# A function that stores into one array and adds to another, called for its effects.
import warp as wp


@wp.func
def deposit(out: wp.array(dtype=float), total: wp.array(dtype=float), i: int, value: float):
    out[i] = value * value
    wp.atomic_add(total, i % 3, value * 0.5)


@wp.kernel
def writes_arrays(
    x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float), total: wp.array(dtype=float)
):
    i = wp.tid()
    deposit(out, total, i, x[i] * y[i] + 0.25)
