# Integer elements updated in place next to floats: exact, and without a gradient.
import warp as wp


# domain: -1000 <= count <= 1000
@wp.kernel
def integer_counters(count: wp.array(dtype=int), x: wp.array(dtype=float)):
    i = wp.tid()
    count[i] = count[i] * 3 - i
    x[i] = x[i] * float(count[i] % 5) + 0.5
