# The choice comes from an integer array, which carries no gradient.
import warp as wp


# domain: 0 <= kind <= 2
@wp.kernel
def branch_on_integer_input(
    kind: wp.array(dtype=int), x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)
):
    i = wp.tid()
    t = y[i]
    if kind[i] != 1:
        t = x[i] * y[i] * float(kind[i] + 1)
    out[i] = t - 0.5 * x[i]
