# atomic_sub into an element that every fourth thread shares, by a product of two inputs.
import warp as wp


@wp.kernel
def shared_difference(x: wp.array(dtype=float), y: wp.array(dtype=float), rest: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_sub(rest, i % 4, x[i] * y[i])
