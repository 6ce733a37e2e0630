# Every operator on f16: each result is rounded to 11 bits before the next operation.
import warp as wp


# domain: 0.5 <= y <= 2
@wp.kernel
def half_arithmetic(x: wp.array(dtype=wp.float16), y: wp.array(dtype=wp.float16), out: wp.array(dtype=wp.float16)):
    i = wp.tid()
    out[i] = (x[i] * y[i] + wp.float16(0.5)) / y[i] - x[i]
