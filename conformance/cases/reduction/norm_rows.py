# The Euclidean norm of a row, and the row's sum divided by it.
import warp as wp


@wp.kernel
def norm_rows(x: wp.array2d(dtype=float), norm: wp.array(dtype=float), scaled: wp.array(dtype=float)):
    i = wp.tid()
    squares = float(0.01)
    total = float(0.0)
    for j in range(x.shape[1]):
        squares += x[i, j] * x[i, j]
        total += x[i, j]
    norm[i] = wp.sqrt(squares)
    scaled[i] = total / wp.sqrt(squares)
