# A recursion unrolled to a depth of four: each level calls the one below twice.
import warp as wp


@wp.func
def level0(x: float):
    return x * 0.5 + 0.125


@wp.func
def level1(x: float):
    return level0(x) * level0(x + 0.5)


@wp.func
def level2(x: float):
    return level1(x) - level1(x * 0.5)


@wp.func
def level3(x: float):
    return level2(x + 1.0) + level2(x) * x


@wp.kernel
def chain_of_bounded_depth(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = level3(x[i]) + level3(x[i] * x[i])
