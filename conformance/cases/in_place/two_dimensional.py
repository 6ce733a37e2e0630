# A product in place in two dimensions, with a factor that all threads share.
import warp as wp


@wp.kernel
def two_dimensional(x: wp.array2d(dtype=float), gain: float):
    i, j = wp.tid()
    x[i, j] = x[i, j] * x[i, j] * gain - float(i - j)
