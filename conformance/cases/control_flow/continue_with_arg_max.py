# continue in a run-time loop that looks for the greatest element: the index found is inactive, the element active.
import warp as wp


# domain: 1 <= n <= 10
@wp.kernel
def continue_with_arg_max(
    x: wp.array2d(dtype=float),
    y: wp.array(dtype=float),
    n: int,
    out: wp.array(dtype=float),
):
    i = wp.tid()
    best = int(0)
    s = float(0.5)
    for j in range(n):
        s += 0.25 * x[i, j]
        if x[i, j] <= x[i, best]:
            continue
        best = j
        s *= 0.5
    out[i] = x[i, best] * y[i] + s
