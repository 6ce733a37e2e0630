# acos and asin over their whole domain, up to the last float below 1 and -1 itself, where the derivative grows.
import warp as wp


# domain: -1 <= x <= 0.99999994
@wp.kernel
def acos_to_its_edges(
    x: wp.array(dtype=float),
    y: wp.array(dtype=float),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    out[i] = wp.acos(x[i]) * y[i] + 0.5 * wp.asin(0.5 * y[i])
