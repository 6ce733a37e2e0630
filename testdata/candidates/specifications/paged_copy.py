import warp as wp


# launch: (table.shape[0], table.shape[1] * cache.shape[1], cache.shape[2])
# domain: 0 <= table < cache.shape[0]
@wp.kernel
def paged(cache: wp.array3d(dtype=float), table: wp.array2d(dtype=int), out: wp.array3d(dtype=float)):
    """Gather the pages of each sequence: out[n, t] = cache[table[n, t // page], t % page]."""
    n, t, d = wp.tid()
    page = cache.shape[1]
    out[n, t, d] = cache[table[n, t // page], t % page, d]
