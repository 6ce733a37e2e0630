import warp as wp


@wp.kernel
def layer_norm(
    x: wp.array2d(dtype=float),
    weight: wp.array(dtype=float),
    bias: wp.array(dtype=float),
    out: wp.array2d(dtype=float),
):
    row = wp.tid()
    n = x.shape[1]
    mean = float(0.0)
    for j in range(n):
        mean += x[row, j]
    mean = mean / float(n)
    variance = float(0.0)
    for j in range(n):
        d = x[row, j] - mean
        variance += d * d
    variance = variance / float(n)
    scale = 1.0 / wp.sqrt(variance + 1.0e-5)
    for j in range(n):
        out[row, j] = (x[row, j] - mean) * scale * weight[j] + bias[j]
