# Squares an element twice: the second store reads what the first one wrote.
import warp as wp


@wp.kernel
def square_in_place(x: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = x[i] * x[i] + 0.25
    x[i] = x[i] * x[i] - 0.5
