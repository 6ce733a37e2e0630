# Neighbouring pairs: every thread reads elements 2 i and 2 i + 1.
import warp as wp


@wp.kernel
def strided_pairs(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[2 * i] * x[2 * i + 1] - x[2 * i + 1]
