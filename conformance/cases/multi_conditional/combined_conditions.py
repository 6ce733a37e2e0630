# and, or and not of four comparisons, grouped against their usual precedence.
import warp as wp


@wp.kernel
def combined_conditions(
    x: wp.array(dtype=float), y: wp.array(dtype=float), z: wp.array(dtype=float), out: wp.array(dtype=float)
):
    i = wp.tid()
    t = z[i] * 0.5
    if (x[i] > 0.3 or y[i] > 0.3) and not (z[i] < -0.5 and x[i] < 1.0):
        t = x[i] * y[i] + z[i]
    elif not (x[i] < y[i]) or z[i] > 0.7:
        t = x[i] - y[i] * z[i]
    out[i] = t + x[i]
