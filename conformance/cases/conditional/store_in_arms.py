# Both branches store into the output, one after changing a value that the rest of the kernel reads.
import warp as wp


@wp.kernel
def store_in_arms(
    x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float), rest: wp.array(dtype=float)
):
    i = wp.tid()
    t = x[i] + 1.25
    if y[i] > x[i]:
        out[i] = t * y[i]
        t = t * t
    else:
        out[i] = t - y[i]
    rest[i] = t * 0.5 + y[i]
