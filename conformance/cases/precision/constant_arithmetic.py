# Arithmetic on constants and the precedence of & and ^ follow Python; comparisons of different types follow C.
import warp as wp


QUOTIENT = -7 // 2
REMAINDER = -7 % 4
FLOAT_QUOTIENT = -7.5 // 2.0
FLOAT_REMAINDER = -7.5 % 2.0
POWER = 2**-2


# domain: -9 <= n <= 9
# domain: 0 <= u <= 9
@wp.kernel
def constant_arithmetic(
    x: wp.array(dtype=float),
    n: wp.array(dtype=int),
    u: wp.array(dtype=wp.uint32),
    out: wp.array(dtype=float),
    count: wp.array(dtype=int),
):
    i = wp.tid()
    out[i] = x[i] * FLOAT_QUOTIENT + FLOAT_REMAINDER * POWER
    total = QUOTIENT + 10 * REMAINDER
    if n[i] < u[i]:
        total += 100
    if x[i] > n[i]:
        total += 1000
    if float(1.0) < x[i] <= 2.0:
        total += 10000
    count[i] = total + (n[i] & 6 ^ 3)
