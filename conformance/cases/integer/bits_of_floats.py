# The bits of floats as integers, and floats from bits: without their sign, with the opposite sign, and scrambled.
import warp as wp


@wp.kernel
def bits_of_floats(
    x: wp.array(dtype=float),
    d: wp.array(dtype=wp.float64),
    k: wp.array(dtype=int),
    out: wp.array(dtype=float),
    wide: wp.array(dtype=wp.float64),
    scrambled: wp.array(dtype=int),
):
    i = wp.tid()
    b = wp.cast(x[i], wp.int32)
    out[i] = wp.cast(b & 0x7FFFFFFF, float) * x[i]
    u = wp.cast(d[i], wp.uint64)
    wide[i] = wp.cast(u ^ (wp.uint64(1) << wp.uint64(63)), dtype=wp.float64) + d[i] * d[i]
    scrambled[i] = b ^ k[i]
