# Bins chosen by a rounded position with interpolated weights, and a check that skips outliers.
import warp as wp


# domain: -0.9 <= x <= 4.9
@wp.kernel
def histogram_and_normalise(
    x: wp.array(dtype=float),
    w: wp.array(dtype=float),
    bins: wp.array(dtype=float),
    count: wp.array(dtype=int),
    skipped: wp.array(dtype=int),
):
    i = wp.tid()
    if x[i] < 0.0 or x[i] >= 4.0:
        wp.atomic_add(skipped, 0, 1)
        return
    left = int(wp.floor(x[i]))
    t = x[i] - float(left)
    value = w[i] * w[i] + 0.5 * w[i]
    wp.atomic_add(bins, left, (1.0 - t) * value)
    wp.atomic_add(bins, left + 1, t * value)
    wp.atomic_add(count, left, 1)
