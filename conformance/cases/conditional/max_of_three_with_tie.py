# The greatest of three, with repeated operands: every tie goes to the second operand.
import warp as wp


@wp.kernel
def max_of_three_with_tie(
    x: wp.array(dtype=float), y: wp.array(dtype=float), z: wp.array(dtype=float), out: wp.array(dtype=float)
):
    i = wp.tid()
    m = wp.max(wp.max(x[i], y[i]), z[i])
    tie = wp.max(m, wp.max(y[i], z[i])) + wp.min(2.0 * x[i], x[i] + wp.max(x[i], y[i]))
    out[i] = m * 0.5 + tie
