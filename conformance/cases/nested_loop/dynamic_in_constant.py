# A loop of run-time length inside unrolled trips, with a bound that depends on the outer index.
import warp as wp


# domain: 0 <= n <= 70
@wp.kernel
def dynamic_in_constant(
    x: wp.array(dtype=float),
    y: wp.array(dtype=float),
    n: int,
    out: wp.array(dtype=float),
):
    i = wp.tid()
    s = y[i]
    for j in range(3):
        p = 1.0 + 0.25 * float(j)
        for k in range(n + j):
            p *= 0.875 + 0.125 * x[k]
        s = s * p + 0.5
    out[i] = s
