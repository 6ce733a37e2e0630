# Arguments by name, in another order, and one left to its default.
import warp as wp


@wp.func
def affine(x: float, slope: float, offset: float = 0.75):
    return x * slope + offset


@wp.kernel
def named_and_default_arguments(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = affine(x[i], slope=y[i]) * affine(offset=x[i], slope=2.0, x=y[i])
