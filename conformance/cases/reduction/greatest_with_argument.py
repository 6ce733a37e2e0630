# The greatest element of a row and where it stands; the place carries no gradient.
import warp as wp


@wp.kernel
def greatest_with_argument(
    x: wp.array2d(dtype=float), w: wp.array(dtype=float), place: wp.array(dtype=int), out: wp.array(dtype=float)
):
    i = wp.tid()
    best = x[i, 0]
    at = int(0)
    for j in range(1, x.shape[1]):
        if x[i, j] > best:
            best = x[i, j]
            at = j
    place[i] = at
    out[i] = best * w[i] + float(at)
