import warp as wp


@wp.kernel
def tanh_half(x: wp.array(dtype=wp.float16), out: wp.array(dtype=wp.float16)):
    i = wp.tid()
    out[i] = wp.tanh(x[i])
