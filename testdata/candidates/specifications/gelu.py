import warp as wp


@wp.kernel
def gelu(x: wp.array2d(dtype=float), out: wp.array2d(dtype=float)):
    i, j = wp.tid()
    v = x[i, j]
    inner = 0.7978845608028654 * (v + 0.044715 * v * v * v)
    out[i, j] = 0.5 * v * (1.0 + wp.tanh(inner))
