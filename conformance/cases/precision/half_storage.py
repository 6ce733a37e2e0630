# Values kept in f16 and computed in f32: one rounding when they are stored.
import warp as wp


@wp.kernel
def half_storage(x: wp.array(dtype=wp.float16), w: wp.array(dtype=float), out: wp.array(dtype=wp.float16)):
    i = wp.tid()
    v = float(x[i]) * w[i] + wp.cos(w[i])
    out[i] = wp.float16(v * v)
