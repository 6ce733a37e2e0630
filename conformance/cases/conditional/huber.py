# The Huber loss: its pieces meet with equal value and slope, which finite differences cannot tell apart at the kink.
import warp as wp


@wp.kernel
def huber(x: wp.array(dtype=float), target: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    r = wp.abs(x[i] - target[i])
    if r <= 0.5:
        out[i] = 0.5 * r * r
    else:
        out[i] = 0.5 * (r - 0.25)
