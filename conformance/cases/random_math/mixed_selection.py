# Selections inside arithmetic inside selections, with inputs on both sides of each.
import warp as wp


@wp.kernel
def mixed_selection(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    m = wp.min(x[i] * 1.5, wp.abs(y[i]) - 0.5)
    c = wp.clamp(m + y[i], -0.75, 0.75)
    out[i] = wp.where(x[i] > y[i] * 0.5, c * x[i], m * m) + wp.max(c, x[i] - y[i])
