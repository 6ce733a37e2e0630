# Threads that find something set the same flags: all of them store the same constants.
import warp as wp


@wp.kernel
def flags(
    x: wp.array(dtype=float),
    y: wp.array(dtype=float),
    out: wp.array(dtype=float),
    found: wp.array(dtype=int),
    marks: wp.array2d(dtype=float),
):
    i = wp.tid()
    if x[i] > y[i]:
        found[0] = 1
        marks[1, 0] = 0.5
    if x[i] < -1.0:
        found[1] = -3
    out[i] = wp.max(x[i], y[i]) * x[i]
