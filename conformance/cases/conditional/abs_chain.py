# abs of a sum of abs: four linear pieces with different slopes.
import warp as wp


@wp.kernel
def abs_chain(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = wp.abs(wp.abs(x[i]) - 1.0 + 0.5 * y[i]) - 2.0 * wp.abs(y[i] - x[i])
