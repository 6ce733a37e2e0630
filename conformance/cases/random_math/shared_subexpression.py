# One value used five times, in five operations: its adjoint sums all contributions.
import warp as wp


@wp.kernel
def shared_subexpression(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    t = x[i] * y[i] + 0.5
    out[i] = t * t + wp.sin(t) / (2.0 + wp.cos(t)) - 0.25 * wp.exp(0.5 * t)
