# An accumulator that only the inner of two run-time loops changes.
import warp as wp


# domain: 0 <= n <= 6
# domain: 0 <= m <= 7
@wp.kernel
def nested_dynamic_accumulator(
    w: wp.array2d(dtype=float),
    x: wp.array(dtype=float),
    n: int,
    m: int,
    out: wp.array(dtype=float),
):
    i = wp.tid()
    s = x[i] + 0.5
    for j in range(n):
        for k in range(m):
            s += w[j, k] * x[i] * w[j, k]
    out[i] = s * x[i]
