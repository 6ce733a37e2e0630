# Structs constructed from values by position, by name in another order, and from the components of a vector.
import warp as wp


@wp.struct
class Ray:
    origin: wp.vec3
    time: float

@wp.struct
class Range:
    low: float
    high: float

@wp.kernel
def constructed_by_fields(
    x: wp.array(dtype=wp.vec3), y: wp.array(dtype=wp.vec2), rays: wp.array(dtype=Ray), out: wp.array(dtype=float)
):
    i = wp.tid()
    first = Ray(x[i], y[i][0] * 0.5)
    second = Ray(time=first.time * y[i][1], origin=wp.cw_mul(x[i], first.origin * 2.0 + wp.vec3(0.5)))
    spread = Range(*y[i])
    mixed = Range(spread.high, high=spread.low * spread.high)
    rays[i] = second
    out[i] = wp.dot(first.origin, second.origin) * mixed.high - mixed.low * spread.low
