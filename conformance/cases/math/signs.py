# sign, step, nonzero, copysign and abs on both signs: step(x) is 1 below zero, sign(0) is 1.
import warp as wp


@wp.kernel
def signs(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    flat = wp.sign(x[i]) * y[i] + wp.step(x[i]) * 0.5 * y[i] + wp.nonzero(x[i])
    out[i] = flat + wp.copysign(x[i] * 2.0, y[i]) + wp.abs(x[i]) * 0.25
