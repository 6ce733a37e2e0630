# A bool kept in a variable, negated, combined and used twice.
import warp as wp


@wp.kernel
def flag_variable(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    inside = x[i] > -1.0 and x[i] < 1.0
    positive = y[i] > 0.0
    t = x[i]
    if inside and not positive:
        t = x[i] * y[i]
    out[i] = t + (y[i] if inside else -2.0 * y[i])
