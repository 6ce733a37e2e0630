# Loops over reversed ranges. Some of the ranges are empty, and the results depend on the order of the iterations.
import warp as wp


# domain: -2 <= n <= 6
@wp.kernel
def reversed_ranges(x: wp.array(dtype=float), n: int, out: wp.array(dtype=float), last: wp.array(dtype=int)):
    i = wp.tid()
    s = x[i]
    for j in reversed(range(n)):
        s = 0.5 * s * s + float(j) * x[i]
    for j in reversed(range(n, 1, -1)):
        s = 0.75 * s + wp.sin(s) * float(j)
    for j in reversed(range(1, 12, 4)):
        s = 0.25 * s + float(j) * x[i]
    at = int(-1)
    for j in reversed(range(n, 4)):
        at = j
    out[i] = s
    last[i] = at
