# lerp and smoothstep with active ends, degrees and radians; smoothstep is flat outside its ends.
import warp as wp


# domain: -3 <= x <= 3
# domain: 0 <= t <= 1
@wp.kernel
def interpolation(x: wp.array(dtype=float), t: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    mixed = wp.lerp(x[i], 2.0 - x[i] * 0.5, t[i])
    smooth = wp.smoothstep(-1.0, 1.5 + 0.25 * t[i], x[i])
    out[i] = mixed + smooth * x[i] + wp.degrees(0.01 * x[i]) + wp.radians(30.0 * t[i])
