# Newton's method with a halved step where the residual grows: while in for, break and two carried values.
# The first step overshoots on purpose for some inputs; a limit that is never met exactly keeps decisions certain.
import warp as wp


# domain: 0.25 <= a <= 4
@wp.kernel
def newton_with_line_search(a: wp.array(dtype=float), start: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    x = 1.5 + 0.25 * start[i]
    for it in range(3):
        r = x * x * x - a[i]
        step = 6.0 * r / (3.0 * x * x + 0.5)
        t = float(1.0)
        tries = int(0)
        while tries < 3:
            y = x - t * step
            e = y * y * y - a[i]
            if e * e < 0.25 * r * r + 0.00390625:
                break
            t = t * 0.5
            tries += 1
        x = x - t * step
    out[i] = x * a[i] + start[i] * x
