# Two arrays exchange their contents, one of them scaled on the way.
import warp as wp


@wp.kernel
def swap(a: wp.array(dtype=float), b: wp.array(dtype=float)):
    i = wp.tid()
    t = a[i]
    a[i] = b[i] * 1.5
    b[i] = t
