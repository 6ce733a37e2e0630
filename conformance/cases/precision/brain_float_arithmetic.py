# bfloat16: the range of f32 with 8 bits of precision.
import warp as wp


# domain: 0.5 <= y <= 2
@wp.kernel
def brain_float_arithmetic(
    x: wp.array(dtype=wp.bfloat16), y: wp.array(dtype=wp.bfloat16), out: wp.array(dtype=wp.bfloat16)
):
    i = wp.tid()
    out[i] = x[i] * y[i] + x[i] / y[i]
