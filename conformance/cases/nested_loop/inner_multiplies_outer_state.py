# The inner loop multiplies what the outer loop carries.
import warp as wp


# domain: 0 <= n <= 5
# domain: 0 <= m <= 4
@wp.kernel
def inner_multiplies_outer_state(
    w: wp.array2d(dtype=float),
    x: wp.array(dtype=float),
    n: int,
    m: int,
    out: wp.array(dtype=float),
):
    i = wp.tid()
    s = float(1.25)
    for j in range(n):
        for k in range(m):
            s = s * (0.75 + 0.25 * w[j, k])
        s = s + x[i] * 0.5
    out[i] = s
