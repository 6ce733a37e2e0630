# The same operand on both sides of a product, twice over, next to a linear use: three contributions to one gradient.
import warp as wp


@wp.kernel
def square_same_operand(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    t = x[i] * x[i]
    y[i] = t * t - 0.75 * t + x[i]
