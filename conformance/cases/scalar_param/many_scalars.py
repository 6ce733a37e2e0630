# Five scalars in one expression, one of them unused: gradients must not change places.
import warp as wp


# domain: 0.5 <= c <= 2
@wp.kernel
def many_scalars(
    a: float, x: wp.array(dtype=float), b: float, unused: float, c: float, d: float, out: wp.array(dtype=float)
):
    i = wp.tid()
    out[i] = a * x[i] * x[i] + b * x[i] / c - wp.sin(d) * a
