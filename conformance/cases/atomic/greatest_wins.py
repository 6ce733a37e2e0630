# atomic_max with one winner, possibly the initial value of the element: only the winner gets the cotangent.
import warp as wp


@wp.kernel
def greatest_wins(x: wp.array(dtype=float), y: wp.array(dtype=float), top: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_max(top, 0, x[i] * 0.5 + y[i])
