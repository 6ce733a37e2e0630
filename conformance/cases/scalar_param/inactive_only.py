# Scalars that only integers depend on: all of their gradients stay as they were.
import warp as wp


# domain: -4 <= k <= 4
# domain: 0 <= m <= 9
@wp.kernel
def inactive_only(
    x: wp.array(dtype=float),
    k: wp.int16,
    m: wp.uint32,
    out: wp.array(dtype=float),
    count: wp.array(dtype=int),
):
    i = wp.tid()
    count[i] = int(k) * 3 + int(m) % 4 + i
    out[i] = x[i] * float(int(k) + 5)
