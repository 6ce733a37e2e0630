# exp and the logarithms of three bases, composed so that each gradient passes through another function.
import warp as wp


# domain: 0.2 <= x <= 6
@wp.kernel
def exponentials_and_logarithms(
    x: wp.array(dtype=float),
    y: wp.array(dtype=float),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    a = wp.log(x[i]) * wp.exp(0.5 * y[i])
    b = wp.log2(x[i] + 1.0) - wp.log10(wp.exp(y[i]) + x[i])
    out[i] = a + b
