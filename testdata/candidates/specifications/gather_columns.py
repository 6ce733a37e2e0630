import warp as wp


# launch: (index.shape[0], index.shape[1])
# domain: 0 <= index < x.shape[1]
@wp.kernel
def gather(x: wp.array2d(dtype=float), index: wp.array2d(dtype=int), out: wp.array2d(dtype=float)):
    """torch.gather(x, 1, index)"""
    i, j = wp.tid()
    out[i, j] = x[i, index[i, j]]
