# Literals that f32 cannot hold: 0.1 and a third must reach the kernel with all 53 bits.
import warp as wp


@wp.kernel
def double_literals(x: wp.array(dtype=wp.float64), out: wp.array(dtype=wp.float64)):
    i = wp.tid()
    out[i] = x[i] * wp.float64(0.1) + wp.float64(0.3333333333333333) * x[i] * x[i] - wp.float64(1.0000000001)
