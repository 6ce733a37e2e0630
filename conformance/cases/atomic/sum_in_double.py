# A sum in f64 of products of f32, and its negative through augmented assignment.
import warp as wp


@wp.kernel
def sum_in_double(
    x: wp.array(dtype=float), w: wp.array(dtype=wp.float64), total: wp.array(dtype=wp.float64)
):
    i = wp.tid()
    wp.atomic_add(total, 0, wp.float64(x[i]) * w[i])
    total[1] -= w[i] * w[i]
