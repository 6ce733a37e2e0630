import warp as wp


# domain: 0 <= label < len(count)
@wp.kernel
def histogram(label: wp.array(dtype=int), count: wp.array(dtype=int)):
    i = wp.tid()
    wp.atomic_add(count, label[i], 1)
