"""Largest element of each window: out[n, c, i, j] = max of x[n, c, i * stride + u, j * stride + v].

The maximum is over u and v from 0 to size - 1. The shape of x is (images, channels, height, width).

PyTorch: torch.nn.functional.max_pool2d(x, size, stride)
"""

import warp as wp


# domain: 1 <= size <= 3
# domain: 1 <= stride <= 3
@wp.kernel
def max_pool2d(x: wp.array4d(dtype=float), size: int, stride: int, out: wp.array4d(dtype=float)):
    n, c, i, j = wp.tid()
    largest = x[n, c, i * stride, j * stride]
    for u in range(size):
        for v in range(size):
            if u + v > 0:
                largest = wp.max(largest, x[n, c, i * stride + u, j * stride + v])
    out[n, c, i, j] = largest
