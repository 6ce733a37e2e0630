# Division and remainder cut off towards zero, with operands of either sign.
import warp as wp


# domain: -1000 <= a <= 1000
# domain: 1 <= b <= 17
@wp.kernel
def division_and_remainder(
    a: wp.array(dtype=int),
    b: wp.array(dtype=int),
    quotient: wp.array(dtype=int),
    rest: wp.array(dtype=int),
    floor: wp.array(dtype=wp.int64),
):
    i = wp.tid()
    quotient[i] = a[i] / b[i] + a[i] / -3
    rest[i] = a[i] % b[i] - a[i] % -b[i]
    floor[i] = wp.int64(a[i]) // wp.int64(b[i])
