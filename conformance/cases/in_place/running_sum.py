# Each element of a row becomes the sum of those before it: each trip reads what the trip before it wrote.
import warp as wp


@wp.kernel
def running_sum(x: wp.array2d(dtype=float)):
    i = wp.tid()
    for j in range(1, x.shape[1]):
        x[i, j] = x[i, j] + 0.5 * x[i, j - 1]
