# Products of quaternions: the order of factors matters, and neither has length one.
import warp as wp


@wp.kernel
def products(
    a: wp.array(dtype=wp.quat),
    b: wp.array(dtype=wp.quat),
    out: wp.array(dtype=wp.quat),
):
    i = wp.tid()
    out[i] = a[i] * b[i] - b[i] * a[i] * 0.5 + a[i] * a[i]
