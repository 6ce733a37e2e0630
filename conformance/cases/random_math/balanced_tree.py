# A balanced tree of sixteen leaves: sums of products of differences.
import warp as wp


@wp.kernel
def balanced_tree(
    a: wp.array(dtype=float), b: wp.array(dtype=float), c: wp.array(dtype=float), out: wp.array(dtype=float)
):
    i = wp.tid()
    left = (a[i] - b[i]) * (c[i] + 0.5) + (b[i] * 0.25 - a[i]) * (c[i] - b[i])
    right = (a[i] * c[i] - 1.5) * (b[i] + 2.0) - (c[i] * 0.75 + a[i]) * (a[i] - 0.5)
    out[i] = left * right * 0.125 + wp.max(left, right)
