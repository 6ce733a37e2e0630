# Two states that exchange values each trip, through a temporary.
import warp as wp


# domain: 0 <= n <= 12
@wp.kernel
def two_coupled_states(
    x: wp.array(dtype=float),
    a: wp.array(dtype=float),
    n: int,
    out: wp.array(dtype=float),
):
    i = wp.tid()
    u = x[i]
    v = 0.5 * a[i]
    for j in range(n):
        t = u
        u = 0.8 * u - 0.6 * v * a[i] * 0.5
        v = 0.6 * t + 0.7 * v
    out[i] = u * v + u
