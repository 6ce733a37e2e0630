import warp as wp


@wp.kernel
def segment_sort(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    """Sort each group of 64 consecutive elements."""
    i = wp.tid()
    first = i // 64 * 64
    rank = int(0)
    for k in range(first, wp.min(first + 64, x.shape[0])):
        if x[k] < x[i] or (x[k] == x[i] and k < i):
            rank += 1
    out[first + rank] = x[i]
