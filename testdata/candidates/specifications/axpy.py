import warp as wp


@wp.kernel
def axpy(alpha: float, x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = alpha * x[i] + y[i]
