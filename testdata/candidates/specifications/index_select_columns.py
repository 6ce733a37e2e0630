import warp as wp


# launch: (x.shape[0], index.shape[0])
# domain: 0 <= index < x.shape[1]
@wp.kernel
def iselect(x: wp.array2d(dtype=float), index: wp.array(dtype=int), out: wp.array2d(dtype=float)):
    """torch.index_select(x, 1, index)"""
    i, j = wp.tid()
    out[i, j] = x[i, index[j]]
