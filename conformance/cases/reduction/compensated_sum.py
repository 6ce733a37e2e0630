# A compensated sum: the correction is small, and its gradient cancels exactly.
import warp as wp


@wp.kernel
def compensated_sum(x: wp.array2d(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    s = float(0.0)
    lost = float(0.0)
    for j in range(x.shape[1]):
        y = x[i, j] * x[i, j] - lost
        t = s + y
        lost = (t - s) - y
        s = t
    out[i] = s
