# Two outputs share most of a computation; each has its own cotangent.
import warp as wp


@wp.kernel
def two_outputs(
    x: wp.array(dtype=float), y: wp.array(dtype=float), first: wp.array(dtype=float), second: wp.array(dtype=float)
):
    i = wp.tid()
    r = wp.sqrt(x[i] * x[i] + y[i] * y[i] + 0.05)
    phi = wp.atan2(y[i] + 3.0, x[i] + 3.0)
    first[i] = r * wp.cos(phi) + phi * x[i]
    second[i] = r * wp.sin(phi) - r / (phi + 0.5)
