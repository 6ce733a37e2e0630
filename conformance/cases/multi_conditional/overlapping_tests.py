# Independent ifs that may all hold: their effects add up in order.
import warp as wp


@wp.kernel
def overlapping_tests(
    x: wp.array(dtype=float),
    y: wp.array(dtype=float),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    t = 1.0 + 0.25 * x[i]
    if x[i] > -1.0:
        t += y[i]
    if x[i] > 0.0:
        t *= y[i] + 2.0
    if x[i] > 1.0:
        t -= x[i] * x[i]
    out[i] = t
