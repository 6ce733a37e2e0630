# Integer sum, minimum and maximum, signed and unsigned, next to a float sum.
import warp as wp


# domain: -500 <= k <= 500
# domain: 0 <= u <= 4000000000
@wp.kernel
def integer_extremes(
    k: wp.array(dtype=int),
    u: wp.array(dtype=wp.uint32),
    x: wp.array(dtype=float),
    count: wp.array(dtype=int),
    top: wp.array(dtype=wp.uint32),
    total: wp.array(dtype=float),
):
    i = wp.tid()
    wp.atomic_add(count, 0, k[i])
    wp.atomic_min(count, 1, k[i] * 2)
    wp.atomic_max(count, 2, k[i] - i)
    wp.atomic_max(top, 0, u[i])
    wp.atomic_min(top, 1, u[i])
    wp.atomic_add(total, 0, x[i] * float(k[i]) * 0.01)
