# All threads add a transform to one element; half of them its inverse.
import warp as wp


@wp.kernel
def summed_transforms(
    a: wp.array(dtype=wp.transform),
    w: wp.array(dtype=float),
    out: wp.array(dtype=wp.transform),
):
    i = wp.tid()
    chosen = wp.transform_inverse(a[i])
    if w[i] < 0.0:
        chosen = a[i] * w[i]
    wp.atomic_add(out, 0, chosen)
