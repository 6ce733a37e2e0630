# and, or, xor and complement of two words, with masks in decimal and hexadecimal notation.
import warp as wp


@wp.kernel
def bit_operations(
    a: wp.array(dtype=int), b: wp.array(dtype=int), out: wp.array(dtype=int), mixed: wp.array(dtype=int)
):
    i = wp.tid()
    out[i] = (a[i] & b[i]) | (a[i] ^ 0x5A) & ~(b[i] ^ 0xF0)
    mixed[i] = ~(a[i] | 12) ^ (b[i] & 255)
