# Functions that read and change arrays, called in a kernel with tiles: a block executes each call once.
import warp as wp


@wp.func
def weight(weights: wp.array(dtype=float), i: int):
    return weights[i] * weights[i]


@wp.func
def store(out: wp.array(dtype=float), i: int, value: float):
    out[i] = value


@wp.func
def store_twice(out: wp.array(dtype=float), i: int, value: float):
    out[i] = value
    return value * 2.0, wp.vec2(value, value * value)


@wp.kernel
def calls_with_effects(
    x: wp.array(dtype=float),
    weights: wp.array(dtype=float),
    sums: wp.array(dtype=float),
    parts: wp.array(dtype=float),
    rest: wp.array(dtype=float),
):
    i = wp.tid()
    t = wp.tile_load(x, shape=4, offset=4 * i) * weight(weights, i)
    total = wp.tile_sum(t)
    store(sums, i, total[0])
    doubled, squared = store_twice(parts, i, t[2])
    rest[i] = doubled + squared[1] * weight(weights, i)
