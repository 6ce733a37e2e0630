# A product in place: the gradient of the factor needs the content that the store overwrites.
import warp as wp


@wp.kernel
def scale_by_other(a: wp.array(dtype=float), b: wp.array(dtype=float)):
    i = wp.tid()
    a[i] = a[i] * b[i]
