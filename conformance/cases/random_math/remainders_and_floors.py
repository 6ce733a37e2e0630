# Remainders, floors and fractions around active factors: the gradient flows where it exists.
import warp as wp


@wp.kernel
def remainders_and_floors(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    r = (x[i] * 3.3 + 0.15) % 1.7
    f = wp.floor(y[i] * 2.1 + 0.05) * x[i]
    out[i] = r * y[i] + f - wp.frac(x[i] * 1.9 + 4.03) * r
