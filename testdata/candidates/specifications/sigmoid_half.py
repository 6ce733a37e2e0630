import warp as wp


@wp.kernel
def sigmoid_half(x: wp.array(dtype=wp.float16), out: wp.array(dtype=wp.float16)):
    i = wp.tid()
    v = wp.float32(x[i])
    out[i] = wp.float16(1.0 / (1.0 + wp.exp(-v)))
