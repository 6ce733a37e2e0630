import warp as wp


@wp.kernel
def bilinear_resize(x: wp.array2d(dtype=float), y: wp.array2d(dtype=float)):
    i, j = wp.tid()
    fy = (float(i) + 0.5) * float(x.shape[0]) / float(y.shape[0]) - 0.5
    fx = (float(j) + 0.5) * float(x.shape[1]) / float(y.shape[1]) - 0.5
    fy = wp.max(fy, 0.0)
    fx = wp.max(fx, 0.0)
    y0 = int(fy)
    x0 = int(fx)
    y1 = wp.min(y0 + 1, x.shape[0] - 1)
    x1 = wp.min(x0 + 1, x.shape[1] - 1)
    wy = fy - float(y0)
    wx = fx - float(x0)
    top = x[y0, x0] * (1.0 - wx) + x[y0, x1] * wx
    low = x[y1, x0] * (1.0 - wx) + x[y1, x1] * wx
    y[i, j] = top * (1.0 - wy) + low * wy
