import warp as wp


@wp.kernel
def linear_recurrence(a: wp.array2d(dtype=float), b: wp.array2d(dtype=float), h: wp.array2d(dtype=float)):
    i = wp.tid()
    s = float(0.0)
    for t in range(a.shape[1]):
        s = a[i, t] * s + b[i, t]
        h[i, t] = s
