import warp as wp


# launch: (x.shape[0], x.shape[1], x.shape[2])
@wp.kernel
def laplacian3d(x: wp.array3d(dtype=float), y: wp.array3d(dtype=float)):
    i, j, k = wp.tid()
    ni = x.shape[0]
    nj = x.shape[1]
    nk = x.shape[2]
    if i > 0 and i < ni - 1 and j > 0 and j < nj - 1 and k > 0 and k < nk - 1:
        y[i, j, k] = (
            x[i - 1, j, k]
            + x[i + 1, j, k]
            + x[i, j - 1, k]
            + x[i, j + 1, k]
            + x[i, j, k - 1]
            + x[i, j, k + 1]
            - 6.0 * x[i, j, k]
        )
    else:
        y[i, j, k] = x[i, j, k]
