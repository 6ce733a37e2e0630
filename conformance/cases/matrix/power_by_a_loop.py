# A matrix carried by a run-time loop: a power, from a value that is not the identity.
import warp as wp


# domain: 0 <= n <= 6
@wp.kernel
def power_by_a_loop(
    x: wp.array(dtype=wp.mat22),
    n: int,
    out: wp.array(dtype=wp.mat22),
):
    i = wp.tid()
    step = x[i] * 0.4
    p = wp.mat22(0.5, 0.25, -0.5, 1.0)
    for j in range(n):
        p = step * p + x[j] * 0.1
    out[i] = p * p
