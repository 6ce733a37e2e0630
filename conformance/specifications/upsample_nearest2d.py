"""Enlargement of images by repeating elements: out[n, c, i, j] = x[n, c, i // scale, j // scale].

PyTorch: torch.nn.functional.interpolate(x, scale_factor=scale, mode="nearest")
"""

import warp as wp


# launch: (x.shape[0], x.shape[1], x.shape[2] * scale, x.shape[3] * scale)
# domain: 1 <= scale <= 4
@wp.kernel
def upsample_nearest2d(x: wp.array4d(dtype=float), scale: int, out: wp.array4d(dtype=float)):
    n, c, i, j = wp.tid()
    out[n, c, i, j] = x[n, c, i / scale, j / scale]
