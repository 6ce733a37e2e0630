# A convolution with a short filter at a clamped position, one constant loop in another.
import warp as wp


@wp.kernel
def convolution(
    x: wp.array2d(dtype=float),
    f: wp.array2d(dtype=float),
    out: wp.array2d(dtype=float),
):
    i, j = wp.tid()
    s = float(0.5)
    for a in range(3):
        for b in range(3):
            r = wp.clamp(i + a - 1, 0, x.shape[0] - 1)
            c = wp.clamp(j + b - 1, 0, x.shape[1] - 1)
            s += x[r, c] * f[a, b]
    out[i, j] = s * s
