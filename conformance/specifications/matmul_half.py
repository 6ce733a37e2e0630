"""Product of float16 matrices, added in float32: c[i, j] = sum of a[i, k] * b[k, j] over k.

PyTorch: torch.matmul(a, b)
"""

import warp as wp


@wp.kernel
def matmul_half(a: wp.array2d(dtype=wp.float16), b: wp.array2d(dtype=wp.float16), c: wp.array2d(dtype=wp.float16)):
    i, j = wp.tid()
    total = float(0.0)
    for k in range(a.shape[1]):
        total += float(a[i, k]) * float(b[k, j])
    c[i, j] = wp.float16(total)
