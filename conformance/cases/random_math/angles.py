# Angles there and back: atan2, asin and acos of waves, in degrees and in radians.
import warp as wp


@wp.kernel
def angles(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    a = wp.atan2(wp.sin(x[i]) + 0.1, 1.5 + wp.cos(y[i]))
    b = wp.asin(0.75 * wp.sin(y[i])) - wp.acos(0.5 * wp.cos(x[i]))
    out[i] = wp.degrees(a) * 0.02 + wp.radians(b * 20.0) * a
