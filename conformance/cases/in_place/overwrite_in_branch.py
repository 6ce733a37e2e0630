# Only some threads overwrite their element; the others keep content and gradient.
import warp as wp


@wp.kernel
def overwrite_in_branch(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    if x[i] > y[i]:
        x[i] = -0.5 * x[i] * y[i]
    elif y[i] < 0.0:
        x[i] = 2.0 + y[i] * y[i]
