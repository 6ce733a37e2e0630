# A quotient of sums of waves, whose divisor stays above one half.
import warp as wp


@wp.kernel
def rational_of_waves(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    top = wp.sin(x[i] * 1.5) + 0.5 * wp.cos(y[i] - 0.25)
    out[i] = top / (1.5 + wp.sin(y[i]) * wp.cos(x[i]))
