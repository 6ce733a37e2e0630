# A scalar in f16 by value: its gradient is a sum over all threads in 11 bits.
import warp as wp


@wp.kernel
def half_parameter(x: wp.array(dtype=float), gain: wp.float16, out: wp.array(dtype=float)):
    i = wp.tid()
    if i < 2:
        out[i] = x[i] * float(gain) + float(gain * gain)
    else:
        out[i] = x[i] * 0.5
