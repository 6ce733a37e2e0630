# An element of an array's matrix is written: the others keep their values.
import warp as wp


@wp.kernel
def element_of_array_cell(
    x: wp.array(dtype=wp.mat22),
    s: wp.array(dtype=float),
    out: wp.array(dtype=wp.mat22),
):
    i = wp.tid()
    out[i] = x[i] * 2.0
    out[i][0, 1] = s[i] * x[i][1, 0]
