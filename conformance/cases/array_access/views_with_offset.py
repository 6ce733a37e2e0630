# Views of views: a block out of a matrix, transposed by the order of its indices, with an offset in both dimensions.
import warp as wp


@wp.func
def trace(block: wp.array2d(dtype=float)):
    s = float(0.0)
    for j in range(block.shape[0]):
        s += block[j, j] * block[0, j]
    return s


@wp.kernel
def views_with_offset(x: wp.array2d(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    block = x[i : i + 3, i : i + 3]
    inner = block[1:]
    out[i] = trace(block) + inner[0, 2] * inner[1][0]
