# asin, acos and atan inside their domains.
import warp as wp


# domain: -0.9 <= x <= 0.9
@wp.kernel
def inverse_trigonometry(
    x: wp.array(dtype=float),
    y: wp.array(dtype=float),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    out[i] = wp.asin(x[i]) * wp.atan(4.0 * y[i]) - wp.acos(x[i] * 0.5) * y[i]
