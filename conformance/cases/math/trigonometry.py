# sin, cos and tan of sums and products, with tan away from its poles.
import warp as wp


# domain: -1 <= y <= 1
@wp.kernel
def trigonometry(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = wp.sin(3.0 * x[i] + y[i]) * wp.cos(x[i] * y[i]) + wp.tan(y[i]) + wp.cos(2.0)
