# atomic_min of a product, by groups that integers choose.
import warp as wp


# domain: 0 <= group < 4
@wp.kernel
def least_by_group(
    group: wp.array(dtype=int), x: wp.array(dtype=float), y: wp.array(dtype=float), least: wp.array(dtype=float)
):
    i = wp.tid()
    wp.atomic_min(least, group[i], x[i] * y[i] + x[i])
