import warp as wp


@wp.kernel
def pairwise_distance(a: wp.array2d(dtype=float), b: wp.array2d(dtype=float), out: wp.array2d(dtype=float)):
    i, j = wp.tid()
    total = float(0.0)
    for k in range(a.shape[1]):
        d = a[i, k] - b[j, k]
        total += d * d
    out[i, j] = wp.sqrt(total)
