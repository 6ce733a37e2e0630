import warp as wp


# domain: 0.0 <= p <= 0.9
@wp.kernel
def dropout_mask(x: wp.array(dtype=float), mask: wp.array(dtype=wp.int32), p: float, out: wp.array(dtype=float)):
    i = wp.tid()
    if mask[i] != 0:
        out[i] = x[i] / (1.0 - p)
    else:
        out[i] = 0.0
