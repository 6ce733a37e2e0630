# Integers and a bool choose and count; only the float has a gradient.
import warp as wp


# domain: 0 <= n <= 5
# domain: -3 <= offset <= 3
@wp.kernel
def integer_and_bool(
    x: wp.array(dtype=float),
    n: int,
    flip: bool,
    offset: wp.int64,
    gain: float,
    out: wp.array(dtype=float),
):
    i = wp.tid()
    t = x[i] * float(n) + gain
    if flip:
        t = -t * gain
    out[i] = t + float(offset) * gain
