# Bits gathered by and, or and xor in words of 32 and 64 bits, next to a float sum.
import warp as wp


@wp.kernel
def bit_masks(
    a: wp.array(dtype=int),
    b: wp.array(dtype=wp.uint64),
    x: wp.array(dtype=float),
    words: wp.array(dtype=int),
    wide: wp.array(dtype=wp.uint64),
    total: wp.array(dtype=float),
):
    i = wp.tid()
    wp.atomic_and(words, 0, a[i] | 5)
    wp.atomic_or(words, 1, a[i] << 3)
    wp.atomic_xor(words, 2, a[i] + i)
    wp.atomic_xor(wide, 0, b[i] * wp.uint64(2654435761))
    wp.atomic_add(total, i % 2, x[i] * x[i])
