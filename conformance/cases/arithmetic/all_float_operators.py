# Every float operator in one kernel; the remainder and the floored quotient take both signs of x.
import warp as wp


# domain: 0.5 <= y <= 3
@wp.kernel
def all_float_operators(
    x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float), rest: wp.array(dtype=float)
):
    i = wp.tid()
    a = x[i]
    b = y[i]
    out[i] = (a + b) * (a - b) / b - -a
    rest[i] = a % b + 0.25 * (a // b)
