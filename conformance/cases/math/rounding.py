# floor, ceil, round, rint and trunc pass no gradient; frac passes all of it.
import warp as wp


# domain: -4 <= x <= 4
@wp.kernel
def rounding(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    steps = wp.floor(x[i]) + 2.0 * wp.ceil(x[i]) + 3.0 * wp.round(x[i]) + 4.0 * wp.rint(x[i]) + 5.0 * wp.trunc(x[i])
    out[i] = steps * y[i] + wp.frac(x[i])
