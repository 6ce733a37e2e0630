# Rows of 2-D and 3-D arrays as array views: assigned to names, indexed, measured, written, and passed to functions,
# also a row of a row.
import warp as wp


@wp.func
def weighted_sum(row: wp.array(dtype=float), weight: wp.array(dtype=float)):
    s = float(0.0)
    for j in range(row.shape[0]):
        s += row[j] * weight[j]
    return s


@wp.func
def sum_of_layer(layer: wp.array2d(dtype=float), weight: wp.array(dtype=float)):
    s = float(0.0)
    for j in range(layer.shape[0]):
        s += weighted_sum(layer[j], weight) * float(j + 1)
    return s


@wp.kernel
def row_views(
    x: wp.array2d(dtype=float),
    stack: wp.array3d(dtype=float),
    w: wp.array(dtype=float),
    out: wp.array2d(dtype=float),
):
    i = wp.tid()
    row = x[i]
    target = out[i]
    target[0] = weighted_sum(row, w) * row[len(row) - 1]
    target[1] = sum_of_layer(stack[i], w) + stack[i, 0][1]
