# The sum of all x * w into one element with a nonzero initial value.
import warp as wp


@wp.kernel
def weighted_sum(x: wp.array(dtype=float), w: wp.array(dtype=float), total: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(total, 0, x[i] * w[i])
