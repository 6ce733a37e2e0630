# Indices of other integer types than int32.
import warp as wp


# domain: 0 <= a <= 6
# domain: 0 <= b <= 5
@wp.kernel
def wide_and_narrow_indices(
    x: wp.array(dtype=float),
    a: wp.array(dtype=wp.int64),
    b: wp.array(dtype=wp.uint8),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    out[i] = x[a[i]] * x[int(b[i])] + x[i]
