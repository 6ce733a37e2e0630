# Euclid's algorithm, with a different number of steps in each thread.
import warp as wp


# domain: 1 <= a <= 5000
# domain: 1 <= b <= 5000
@wp.kernel
def greatest_common_divisor(a: wp.array(dtype=int), b: wp.array(dtype=int), out: wp.array(dtype=int)):
    i = wp.tid()
    m = a[i]
    n = b[i]
    while n != 0:
        rest = m % n
        m = n
        n = rest
    out[i] = m * 2 + i
