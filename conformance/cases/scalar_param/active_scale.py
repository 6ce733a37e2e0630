# One scalar that every thread reads: its gradient is a sum over all threads.
import warp as wp


@wp.kernel
def active_scale(x: wp.array(dtype=float), scale: float, out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = scale * x[i] + 0.5 * scale * scale
