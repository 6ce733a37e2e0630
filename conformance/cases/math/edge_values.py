# Values at the edges of domains: zeros of both signs, NaN, and arguments outside the domain. The results are integers,
# so that no derivative is needed at these points.
import warp as wp


@wp.func
def is_negative(zero: float):
    return wp.where(wp.copysign(1.0, zero) < 0.0, 1, 0)


# domain: 0 <= k <= 0
@wp.kernel
def edge_values(k: wp.array(dtype=int), out: wp.array2d(dtype=int)):
    i = wp.tid()
    zero = float(k[i])
    minus = zero * -1.0
    nan = wp.nan + zero
    half = wp.float16(nan)
    one = wp.float16(1.0)
    out[i, 0] = is_negative(wp.min(zero, minus)) + 2 * is_negative(wp.min(minus, zero))
    out[i, 1] = is_negative(wp.max(zero, minus)) + 2 * is_negative(wp.max(minus, zero))
    out[i, 2] = int(wp.min(half, one)) + 2 * int(wp.min(one, half)) + 4 * int(wp.max(half, one))
    out[i, 3] = int(8.0 * wp.acos(nan)) + 100 * int(8.0 * wp.acos(zero - 2.0)) + 10000 * int(8.0 * wp.acos(zero + 2.0))
    out[i, 4] = int(8.0 * wp.asin(nan)) + 100 * int(8.0 * wp.asin(zero + 2.0))
    out[i, 5] = int(8.0 * wp.smoothstep(zero, zero, zero)) + int(8.0 * wp.normalize(wp.vec2(nan, 1.0))[1])
    out[i, 6] = int(8.0 * wp.clamp(nan, 0.25, 1.0)) + 100 * int(8.0 * wp.clamp(0.5 + zero, nan, 1.0))
