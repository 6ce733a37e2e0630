# A data-dependent number of trips, from zero on: the factor is active.
import warp as wp


# domain: 0.01 <= x <= 4
# domain: 0.3 <= f <= 0.97
@wp.kernel
def shrink_until_small(
    x: wp.array(dtype=float),
    f: wp.array(dtype=float),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    v = x[i]
    total = float(0.25)
    while v > 0.1:
        total = total * 0.5 + v
        v = v * f[i]
    out[i] = total + 2.0 * v
