# Counts the bits of a word in a loop that ends when no bit is left.
import warp as wp


# domain: 0 <= a <= 4294967295
@wp.kernel
def counted_bits(a: wp.array(dtype=wp.uint32), x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    word = a[i]
    count = int(0)
    while word != wp.uint32(0):
        word = word & (word - wp.uint32(1))
        count += 1
    out[i] = x[i] * float(count) + 0.25
