# Every thread has its own number of trips.
import warp as wp


# domain: 0 <= lengths <= 9
@wp.kernel
def own_lengths(
    x: wp.array2d(dtype=float), lengths: wp.array(dtype=int), y: wp.array(dtype=float), out: wp.array(dtype=float)
):
    i = wp.tid()
    s = y[i]
    for j in range(lengths[i]):
        s = wp.tanh(0.5 * s + x[i, j]) + 0.25 * y[i]
    out[i] = s
