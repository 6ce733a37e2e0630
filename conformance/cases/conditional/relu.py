# Inputs on both sides of zero, and a bias that moves the kink.
import warp as wp


@wp.kernel
def relu(x: wp.array(dtype=float), bias: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    t = 1.5 * x[i] + bias[i]
    out[i] = wp.max(t, 0.0) * t + 0.125 * x[i]
