import warp as wp


# domain: 0 <= index < total.shape[0]
@wp.kernel
def scatter_add(index: wp.array(dtype=wp.int32), x: wp.array(dtype=float), total: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(total, index[i], x[i])
