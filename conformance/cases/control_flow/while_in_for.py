# A while loop in a for loop; the while loop's state is reset from the outer state in each iteration.
import warp as wp


# domain: 0 <= n <= 5
@wp.kernel
def while_in_for(
    x: wp.array2d(dtype=float),
    y: wp.array(dtype=float),
    n: int,
    out: wp.array(dtype=float),
):
    i = wp.tid()
    s = y[i]
    for j in range(n):
        v = s * s + 0.5 + wp.abs(x[i, j])
        k = int(0)
        while v > 0.5 and k < 6:
            v = v * 0.6 - 0.05 * x[i, j]
            k += 1
        s = 0.5 * s + v
    out[i] = s
