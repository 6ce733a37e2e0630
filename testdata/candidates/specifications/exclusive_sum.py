import warp as wp


# launch: (x.shape[0])
@wp.kernel
def exclusive_sum(x: wp.array(dtype=int), y: wp.array(dtype=int)):
    i = wp.tid()
    s = int(0)
    for k in range(i):
        s += x[k]
    y[i] = s
