# Maximums that skip NaN and infinities. Initially, a maximum may be NaN, which any finite value replaces.
import warp as wp


@wp.kernel
def greatest_finite_value(
    x: wp.array2d(dtype=float),
    most: wp.array(dtype=float),
    least: wp.array(dtype=wp.float64),
):
    i, j = wp.tid()
    value = x[i, j]
    if wp.isfinite(value):
        wp.atomic_max(most, i, value)
        wp.atomic_min(least, i, wp.float64(value))
