# A stencil whose border repeats the last element: at the border two of its taps are the same element.
import warp as wp


@wp.kernel
def stencil_clamped(x: wp.array(dtype=float), c: float, out: wp.array(dtype=float)):
    i = wp.tid()
    n = x.shape[0]
    left = x[wp.max(i - 1, 0)]
    right = x[wp.min(i + 1, n - 1)]
    out[i] = x[i] + c * (left - 2.0 * x[i] + right) * x[i]
