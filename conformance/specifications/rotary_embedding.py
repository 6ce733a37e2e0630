"""Rotary position embedding: out[i, j] = a * cosine - b * sine, out[i, j + half] = b * cosine + a * sine.

Here a is x[i, j], b is x[i, j + half], and cosine and sine stand for their elements [i, j]. x has 2 * half columns,
cosine and sine have half as many. A thread computes one pair of elements.

PyTorch: a, b = x.chunk(2, dim=1); torch.cat((a * cosine - b * sine, b * cosine + a * sine), dim=1)
"""

import warp as wp


@wp.kernel
def rotary_embedding(
    x: wp.array2d(dtype=float),
    cosine: wp.array2d(dtype=float),
    sine: wp.array2d(dtype=float),
    out: wp.array2d(dtype=float),
):
    i, j = wp.tid()
    half = cosine.shape[1]
    out[i, j] = x[i, j] * cosine[i, j] - x[i, j + half] * sine[i, j]
    out[i, j + half] = x[i, j + half] * cosine[i, j] + x[i, j] * sine[i, j]
