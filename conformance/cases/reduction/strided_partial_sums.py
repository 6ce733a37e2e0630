# Each thread sums every fifth element and adds its part to one total.
import warp as wp


# launch: (5)
@wp.kernel
def strided_partial_sums(x: wp.array(dtype=float), w: wp.array(dtype=float), total: wp.array(dtype=float)):
    i = wp.tid()
    s = float(0.0)
    for k in range(i, x.shape[0], 5):
        s += x[k] * x[k]
    wp.atomic_add(total, 0, s * w[i])
