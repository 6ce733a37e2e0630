# Each thread changes one row of a matrix, or one component of a row.
import warp as wp


# launch: (a.shape[0], 4)
@wp.kernel
def stored_rows(
    x: wp.array(dtype=wp.mat33), a: wp.array(dtype=wp.mat33), b: wp.array(dtype=wp.mat33), out: wp.array(dtype=wp.mat33)
):
    i, r = wp.tid()
    if r < 3:
        a[i][r] = x[i][r] * x[i][r][0]
        b[i][r, 1] += x[i][r, 2]
        out[i][r, 2 - r] = x[i][r, 0] * x[i][1, r]
