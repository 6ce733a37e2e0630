import warp as wp


# launch: (len(x))
@wp.kernel
def compact(x: wp.array(dtype=float), out: wp.array(dtype=float), count: wp.array(dtype=int)):
    """The positive elements of x in their order, followed by zeros; count[0] is their number."""
    i = wp.tid()
    before = int(0)
    total = int(0)
    for k in range(x.shape[0]):
        if x[k] > 0.0:
            total += 1
            if k < i:
                before += 1
    if x[i] > 0.0:
        out[before] = x[i]
    else:
        out[total + i - before] = 0.0
    if i == 0:
        count[0] = total
