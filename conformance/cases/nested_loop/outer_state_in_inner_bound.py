# An integer that the outer loop changes is the bound of the inner one.
import warp as wp


# domain: 0 <= n <= 5
@wp.kernel
def outer_state_in_inner_bound(
    w: wp.array2d(dtype=float),
    x: wp.array(dtype=float),
    n: int,
    out: wp.array(dtype=float),
):
    i = wp.tid()
    length = int(1)
    s = x[i] + 1.0
    for j in range(n):
        for k in range(length):
            s = s * 0.75 + 0.25 * w[j, k] * s
        length = (length + 2) % 5
    out[i] = s * float(length)
