# tanh where it rounds to 1, from about 9 on: value and derivative stay finite and the rest of the sum counts.
import warp as wp


# domain: 7 <= x <= 20
@wp.kernel
def tanh_saturated(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = wp.tanh(x[i]) * y[i] + 0.125 * x[i] + wp.tanh(-x[i])
