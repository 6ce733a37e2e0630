import warp as wp


# domain: 0 <= key < len(total)
@wp.kernel
def sum_by_key(key: wp.array(dtype=int), x: wp.array(dtype=float), total: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(total, key[i], x[i])
