# The number of bits that are 1 in integers of every width, also of negative numbers; operators written as functions.
import warp as wp


@wp.kernel
def bit_counts(
    x: wp.array(dtype=int),
    wide: wp.array(dtype=wp.uint64),
    scale: wp.array(dtype=float),
    count: wp.array(dtype=int),
    moved: wp.array(dtype=int),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    short = wp.bit_count(wp.int8(x[i])) + wp.bit_count(wp.uint16(x[i]))
    count[i] = short * 256 + wp.bit_count(x[i]) + wp.bit_count(wide[i])
    moved[i] = wp.lshift(wp.bit_and(x[i], 255), 3) + wp.rshift(x[i], 2) + wp.invert(x[i])
    out[i] = scale[i] * float(wp.bit_count(wp.uint32(x[i])))
