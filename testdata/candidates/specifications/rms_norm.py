import warp as wp


@wp.kernel
def rms_norm(x: wp.array2d(dtype=float), weight: wp.array(dtype=float), out: wp.array2d(dtype=float)):
    row = wp.tid()
    n = x.shape[1]
    total = float(0.0)
    for j in range(n):
        total += x[row, j] * x[row, j]
    scale = 1.0 / wp.sqrt(total / float(n) + 1.0e-5)
    for j in range(n):
        out[row, j] = x[row, j] * scale * weight[j]
