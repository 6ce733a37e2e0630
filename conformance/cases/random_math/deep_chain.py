# Eight nested functions, each in a well-conditioned range.
import warp as wp


@wp.kernel
def deep_chain(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = wp.tanh(wp.sin(wp.sqrt(wp.exp(wp.cos(wp.log(wp.abs(wp.atan(x[i])) + 1.25)))) + 0.5))
