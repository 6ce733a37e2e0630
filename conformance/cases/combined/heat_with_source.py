# Explicit heat conduction over several steps between two thread-local buffers, with clamped ends.
import warp as wp


# domain: 0 <= steps <= 4
@wp.kernel
def heat_with_source(
    u: wp.array2d(dtype=float), source: wp.array(dtype=float), rate: float, steps: int, out: wp.array(dtype=float)
):
    i = wp.tid()
    a = u[i, 0]
    b = u[i, 1]
    c = u[i, 2]
    k = 0.1 + 0.1 * rate * rate
    for s in range(steps):
        na = a + k * (b - a) + 0.125 * source[i]
        nb = b + k * (a - 2.0 * b + c)
        nc = c + k * (b - c) - 0.0625 * source[i] * c
        a = na
        b = nb
        c = nc
        if b > 1.5:
            b = 1.5 + 0.25 * (b - 1.5)
    out[i] = a * b + c * c
