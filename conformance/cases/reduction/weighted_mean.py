# A weighted mean: both sums carry gradients into the weights.
import warp as wp


# domain: 0.25 <= w <= 2
@wp.kernel
def weighted_mean(x: wp.array2d(dtype=float), w: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    sum_of_weights = float(0.5)
    s = float(0.0)
    for j in range(x.shape[1]):
        s += w[j] * x[i, j]
        sum_of_weights += w[j]
    out[i] = s / sum_of_weights
