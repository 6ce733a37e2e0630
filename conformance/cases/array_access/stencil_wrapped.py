# A stencil on a ring: the indices wrap around by a remainder.
import warp as wp


@wp.kernel
def stencil_wrapped(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    n = x.shape[0]
    out[i] = x[(i + 1) % n] * x[i] - x[(i + n - 2) % n] * 0.5
