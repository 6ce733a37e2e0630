# Integers, bits, f32 and f64 in one kernel: a hash selects the scale factor of an f64 value.
import warp as wp


@wp.kernel
def mixed_types(
    key: wp.array(dtype=wp.uint32),
    x: wp.array(dtype=float),
    y: wp.array(dtype=wp.float64),
    out: wp.array(dtype=wp.float64),
    low: wp.array(dtype=float),
):
    i = wp.tid()
    h = key[i] ^ (key[i] >> wp.uint32(7))
    h = h * wp.uint32(2654435761) + wp.uint32(i)
    choice = int(h & wp.uint32(3))
    scale = wp.float64(0.5)
    if choice == 1:
        scale = y[i]
    elif choice == 2:
        scale = wp.float64(x[i]) * y[i]
    value = y[i] * scale + wp.float64(x[i])
    out[i] = value * value
    low[i] = float(value) * x[i]
