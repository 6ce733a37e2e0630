# Operators of equal precedence group from the left; parentheses change the value.
import warp as wp


# domain: 0.5 <= b <= 2
# domain: 0.5 <= c <= 2
@wp.kernel
def grouping(
    a: wp.array(dtype=float), b: wp.array(dtype=float), c: wp.array(dtype=float), out: wp.array(dtype=float)
):
    i = wp.tid()
    left = a[i] - b[i] - c[i] + a[i] / b[i] / c[i]
    right = a[i] - (b[i] - c[i]) + a[i] / (b[i] / c[i])
    out[i] = left + 2.0 * right + a[i] * b[i] % c[i]
