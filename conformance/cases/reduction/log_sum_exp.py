# The logarithm of a sum of exponentials, whose running maximum rescales the sum on the way.
import warp as wp


@wp.kernel
def log_sum_exp(x: wp.array2d(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    top = x[i, 0]
    s = float(1.0)
    for j in range(1, x.shape[1]):
        if x[i, j] > top:
            s = s * wp.exp(top - x[i, j]) + 1.0
            top = x[i, j]
        else:
            s += wp.exp(x[i, j] - top)
    out[i] = top + wp.log(s)
