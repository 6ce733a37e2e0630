# A return out of two loops at once: neither may go on, in the replay as in the forward pass.
import warp as wp


# domain: 0 <= n <= 40
# domain: 0 <= w <= 1
@wp.kernel
def return_from_nested_loops(
    w: wp.array2d(dtype=float),
    x: wp.array(dtype=float),
    n: int,
    out: wp.array(dtype=float),
):
    i = wp.tid()
    s = x[i] * 0.5
    for j in range(n):
        for k in range(j + 1):
            s = s + 0.05 * w[j, k] * x[i] * (1.0 + 0.25 * s)
            if s > 1.0:
                out[i] = s * s
                return
        s = s * 0.75
    out[i] = s
