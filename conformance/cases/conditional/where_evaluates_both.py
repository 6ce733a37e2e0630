# Both operands of where are computed and also used elsewhere; only the selected one gets the gradient of the result.
import warp as wp


@wp.kernel
def where_evaluates_both(
    x: wp.array(dtype=float),
    y: wp.array(dtype=float),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    a = x[i] * y[i]
    b = x[i] - 3.0 * y[i]
    c = wp.where(a < b, a, b)
    out[i] = c * c + a * 0.25
