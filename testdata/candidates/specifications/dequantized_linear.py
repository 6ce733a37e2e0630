import warp as wp


# domain: -8 <= q <= 7
@wp.kernel
def dequantized_linear(
    x: wp.array2d(dtype=float), q: wp.array2d(dtype=wp.int8), scale: wp.array(dtype=float), y: wp.array2d(dtype=float)
):
    i, j = wp.tid()
    s = float(0.0)
    for k in range(x.shape[1]):
        s += x[i, k] * float(q[j, k])
    y[i, j] = s * scale[j]
