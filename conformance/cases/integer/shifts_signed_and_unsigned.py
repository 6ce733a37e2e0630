# Shifts to the right keep the sign of a signed number and bring zeros into an unsigned one; none reaches the width.
import warp as wp


# domain: -2000000000 <= a <= 2000000000
# domain: 0 <= u <= 4294967295
# domain: 0 <= k <= 31
@wp.kernel
def shifts_signed_and_unsigned(
    a: wp.array(dtype=int),
    u: wp.array(dtype=wp.uint32),
    k: wp.array(dtype=int),
    down: wp.array(dtype=int),
    out: wp.array(dtype=wp.uint32),
):
    i = wp.tid()
    down[i] = (a[i] >> k[i]) + (a[i] >> 3)
    out[i] = (u[i] >> wp.uint32(k[i])) ^ (u[i] << wp.uint32(5))
