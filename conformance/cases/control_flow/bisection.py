# Bisection: the branch decides which end moves, so the result is piecewise constant in the input.
import warp as wp


# domain: 0.1 <= x <= 3.9
@wp.kernel
def bisection(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    low = float(0.0)
    high = float(4.0)
    for j in range(14):
        middle = 0.5 * (low + high)
        if middle < x[i]:
            low = middle
        else:
            high = middle
    out[i] = (low + high) * y[i] + x[i] * low
