# isnan, isinf and isfinite choose between values; on finite inputs each choice is known.
import warp as wp


@wp.kernel
def classification(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    a = wp.where(wp.isnan(x[i]), 100.0, x[i] * y[i])
    b = wp.where(wp.isinf(y[i]), 200.0, y[i])
    out[i] = a + (2.0 * b if wp.isfinite(x[i]) else 300.0)
