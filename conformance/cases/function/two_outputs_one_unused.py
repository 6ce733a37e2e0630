# A function with two outputs, of which one call uses both and the other only the second.
import warp as wp


@wp.func
def polar(x: float, y: float):
    r = wp.sqrt(x * x + y * y + 0.1)
    return r, wp.atan2(y, x + 3.0)


@wp.kernel
def two_outputs_one_unused(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    r, phi = polar(x[i], y[i])
    unused, psi = polar(y[i], r)
    out[i] = r * phi - psi * x[i]
