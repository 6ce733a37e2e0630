# Bit operations on whole matrices of integers, written as operators and as functions.
import warp as wp

mat22i = wp.types.matrix(shape=(2, 2), dtype=wp.int32)


@wp.kernel
def bits_of_matrices(
    a: wp.array(dtype=mat22i),
    b: wp.array(dtype=mat22i),
    x: wp.array(dtype=float),
    masked: wp.array(dtype=mat22i),
    moved: wp.array(dtype=mat22i),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    masked[i] = ((a[i] & b[i]) | mat22i(16, 32, 64, 128)) ^ ~b[i]
    by = b[i] & mat22i(3, 3, 3, 3)
    moved[i] = ((a[i] & mat22i(255, 255, 255, 255)) << by) + (a[i] >> by) + wp.invert(wp.bit_xor(a[i], b[i]))
    out[i] = x[i] * float(masked[i][1, 0] & 7)
