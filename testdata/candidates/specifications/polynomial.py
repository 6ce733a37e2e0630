import warp as wp


@wp.kernel
def polynomial(x: wp.array(dtype=float), c: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    s = float(0.0)
    for k in range(c.shape[0]):
        s = s * x[i] + c[k]
    y[i] = s
