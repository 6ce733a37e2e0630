# Slices with offset and stride: a column, every second element from the second on, and a window that moves with the
# thread, passed to functions.
import warp as wp


@wp.func
def alternating(a: wp.array(dtype=float)):
    s = float(0.0)
    sign = float(1.0)
    for j in range(a.shape[0]):
        s += sign * a[j] * a[j]
        sign = -sign
    return s


@wp.func
def put_ends(a: wp.array(dtype=float), first: float, last: float):
    a[0] = first
    a[a.shape[0] - 1] = last


@wp.kernel
def sliced_views(x: wp.array2d(dtype=float), y: wp.array(dtype=float), out: wp.array2d(dtype=float)):
    i = wp.tid()
    column = x[:, i]
    window = y[i : i + 4]
    put_ends(out[i, 1:4], alternating(column) * 0.25, alternating(y[1::2]) * window[2])
