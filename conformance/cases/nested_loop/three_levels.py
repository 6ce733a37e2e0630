# Three loops, of which the innermost is triangular and the middle one runs backwards.
import warp as wp


# domain: 0 <= n <= 4
@wp.kernel
def three_levels(
    w: wp.array2d(dtype=float),
    x: wp.array(dtype=float),
    n: int,
    out: wp.array(dtype=float),
):
    i = wp.tid()
    s = x[i]
    for a in range(n):
        for b in range(n - 1, -1, -1):
            for c in range(b + 1):
                s = s * 0.9 + 0.1 * w[a, c] * x[i]
            s = s + w[b, a] * 0.25
    out[i] = s * s
