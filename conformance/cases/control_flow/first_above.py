# The first element above a threshold, found by a loop with break, interpolated after it.
import warp as wp


# domain: 1 <= n <= 10
@wp.kernel
def first_above(
    x: wp.array2d(dtype=float),
    y: wp.array(dtype=float),
    n: int,
    out: wp.array(dtype=float),
):
    i = wp.tid()
    found = int(-1)
    for j in range(n):
        if x[i, j] > y[i]:
            found = j
            break
    t = 0.5 * y[i]
    if found >= 0:
        t = (x[i, found] - y[i]) * (x[i, found] + float(found))
    out[i] = t
