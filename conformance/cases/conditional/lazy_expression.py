# A conditional expression evaluates one branch: the other would divide by zero or leave the logarithm's domain.
import warp as wp


@wp.kernel
def lazy_expression(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    a = wp.log(x[i]) * y[i] if x[i] > 0.125 else y[i] - x[i]
    b = y[i] / x[i] if wp.abs(x[i]) > 0.25 else 4.0 * y[i]
    out[i] = a + b
