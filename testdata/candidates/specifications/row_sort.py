import warp as wp


@wp.kernel
def row_sort(x: wp.array2d(dtype=float), y: wp.array2d(dtype=float)):
    i, j = wp.tid()
    n = x.shape[1]
    rank = int(0)
    for k in range(n):
        if x[i, k] < x[i, j] or (x[i, k] == x[i, j] and k < j):
            rank += 1
    y[i, rank] = x[i, j]
