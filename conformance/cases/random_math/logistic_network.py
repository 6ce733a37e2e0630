# Two layers of a small network written out by hand.
import warp as wp


@wp.kernel
def logistic_network(
    x: wp.array(dtype=float), y: wp.array(dtype=float), w: wp.array(dtype=float), out: wp.array(dtype=float)
):
    i = wp.tid()
    h = 1.0 / (1.0 + wp.exp(-(x[i] * w[0] + y[i] * w[1])))
    k = wp.tanh(x[i] * w[2] - y[i] * w[3] + 0.25)
    out[i] = 1.0 / (1.0 + wp.exp(-(h * w[4] + k * w[5]))) + wp.log(1.0 + wp.exp(h - k))
