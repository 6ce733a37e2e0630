import warp as wp


# launch: (a.shape[0], b.shape[1])
@wp.kernel
def tril(a: wp.array2d(dtype=float), b: wp.array2d(dtype=float), c: wp.array2d(dtype=float)):
    i, j = wp.tid()
    s = float(0.0)
    for k in range(i + 1):
        s += a[i, k] * b[k, j]
    c[i, j] = s
