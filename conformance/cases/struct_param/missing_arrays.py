# Structs with arrays that the kernel constructs: arrays that it assigns, and arrays that are missing.
import warp as wp


@wp.struct
class Source:
    values: wp.array(dtype=float)
    corners: wp.array2d(dtype=wp.vec2)
    offset: float


@wp.func
def value_at(source: Source, i: int):
    if i < source.values.shape[0]:
        return source.values[i] + source.offset
    return 2.0 * source.offset


@wp.func
def corner_or_value(source: Source, i: int):
    copied = source
    copied.offset = source.offset + 0.25
    if len(copied.corners) > 0:
        return wp.dot(copied.corners[i, 0], copied.corners[i, 1])
    return value_at(copied, i)


@wp.kernel
def missing_arrays(x: wp.array(dtype=float), corners: wp.array2d(dtype=wp.vec2), y: wp.array(dtype=float)):
    i = wp.tid()
    nothing = Source()
    nothing.offset = x[i]
    half = Source()
    half.values = x
    full = Source()
    full.values = x
    full.corners = corners
    y[i] = corner_or_value(nothing, i) * corner_or_value(half, i) + corner_or_value(full, i) + value_at(Source(), i)
