# Every thread adds to its own element and to its neighbour's: almost no contention.
import warp as wp


@wp.kernel
def spread_cells(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(out, i, x[i] * x[i])
    wp.atomic_add(out, i + 1, -0.5 * x[i])
