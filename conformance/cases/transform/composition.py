# Transforms composed by transform_multiply and by *: the order matters, and the rotations have any length.
import warp as wp


@wp.kernel
def composition(
    a: wp.array(dtype=wp.transform),
    b: wp.array(dtype=wp.transform),
    out: wp.array(dtype=wp.transform),
    other: wp.array(dtype=wp.transform),
):
    i = wp.tid()
    out[i] = wp.transform_multiply(a[i], b[i])
    other[i] = b[i] * a[i] * b[i]
