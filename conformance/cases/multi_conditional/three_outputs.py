# Three outputs, each written under a separate condition.
import warp as wp


@wp.kernel
def three_outputs(
    x: wp.array(dtype=float),
    y: wp.array(dtype=float),
    a: wp.array(dtype=float),
    b: wp.array(dtype=float),
    c: wp.array(dtype=float),
):
    i = wp.tid()
    t = x[i] + y[i]
    if t > 0.0:
        c[i] = t * x[i]
        if x[i] > y[i]:
            a[i] = t
    else:
        b[i] = t * t
        c[i] = -y[i]
