# The loop variable keeps its last value after the loop, also after break and after a change in the loop's body.
import warp as wp


@wp.kernel
def variable_after_loop(x: wp.array2d(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    s = y[i]
    for j in range(7):
        s = s * x[i, j] + 0.5
        if s > 1.0:
            break
    s += float(j) * y[i]
    for j in range(2, 5):
        s = s + x[i, j] * y[i]
        j += 2
    out[i] = s * float(j + 1)
