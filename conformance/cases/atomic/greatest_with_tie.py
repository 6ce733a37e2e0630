# atomic_max where two threads always tie: their shares of the cotangent must add up to it, not to twice as much.
import warp as wp


@wp.kernel
def greatest_with_tie(x: wp.array(dtype=float), top: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_max(top, i % 3, x[(i / 6) * 3 + i % 3])
