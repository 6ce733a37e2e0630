# Functions of f16, which compute in f32 and round their result.
import warp as wp


@wp.kernel
def half_functions(x: wp.array(dtype=wp.float16), out: wp.array(dtype=wp.float16)):
    i = wp.tid()
    out[i] = wp.sin(x[i]) + wp.exp(x[i] * wp.float16(0.5)) * wp.sqrt(wp.abs(x[i]) + wp.float16(0.25))
