# A function with two results, of which the second call drops one; both calls share a scalar parameter.
import warp as wp


@wp.func
def split(x: float, a: float):
    return x * a, x - a * a


@wp.kernel
def helper_with_two_results(x: wp.array(dtype=float), a: float, out: wp.array(dtype=float)):
    i = wp.tid()
    p, q = split(x[i], a)
    r, unused = split(q, x[i])
    out[i] = p * q + r
