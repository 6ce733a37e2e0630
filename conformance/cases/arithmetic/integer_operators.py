# Integer / and // truncate towards zero and % takes the sign of the dividend, on dividends of both signs.
import warp as wp


# domain: -50 <= a <= 50
# domain: 1 <= b <= 9
@wp.kernel
def integer_operators(
    a: wp.array(dtype=int), b: wp.array(dtype=int), quotient: wp.array(dtype=int), rest: wp.array(dtype=int)
):
    i = wp.tid()
    quotient[i] = a[i] / b[i] * 100 + a[i] // b[i] - (a[i] - 3) * b[i]
    rest[i] = a[i] % b[i] + -a[i] % 4
