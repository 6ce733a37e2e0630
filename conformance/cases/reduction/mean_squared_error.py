# The mean squared error of a linear model over all samples, into one element.
import warp as wp


@wp.kernel
def mean_squared_error(
    x: wp.array(dtype=float),
    target: wp.array(dtype=float),
    slope: float,
    offset: float,
    loss: wp.array(dtype=float),
):
    i = wp.tid()
    e = slope * x[i] + offset - target[i]
    wp.atomic_add(loss, 0, e * e / float(x.shape[0]))
