# Mean and variance in two passes over a row: the second pass uses the first one's result.
import warp as wp


@wp.kernel
def mean_and_variance(x: wp.array2d(dtype=float), mean: wp.array(dtype=float), variance: wp.array(dtype=float)):
    i = wp.tid()
    n = x.shape[1]
    s = float(0.0)
    for j in range(n):
        s += x[i, j]
    m = s / float(n)
    q = float(0.0)
    for j in range(n):
        d = x[i, j] - m
        q += d * d
    mean[i] = m
    variance[i] = q / float(n)
