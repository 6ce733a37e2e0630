# Scaled tiles added in place: the factor is a parameter, an element of an array, and a constant in a loop.
import warp as wp


# domain: 0 <= steps <= 3
@wp.kernel
def scaled_sums(
    x: wp.array(dtype=float),
    y: wp.array(dtype=float),
    factors: wp.array(dtype=float),
    steps: int,
    out: wp.array(dtype=float),
):
    i = wp.tid()
    total = wp.tile_load(y, shape=8, offset=i * 8)
    t = wp.tile_load(x, shape=8, offset=i * 8)
    wp.tile_axpy(factors[i], t * total, total)
    for k in range(steps):
        wp.tile_axpy(0.5, t, total)
    wp.tile_store(out, total, offset=i * 8)
