# Two parameters of one struct type, one by value and one in an array: their gradients must not change places.
import warp as wp


@wp.struct
class Box:
    low: wp.vec2
    high: wp.vec2

@wp.kernel
def two_structs_of_one_type(
    around: Box, boxes: wp.array(dtype=Box), x: wp.array(dtype=float), out: wp.array(dtype=float)
):
    i = wp.tid()
    size = boxes[i].high - boxes[i].low
    room = around.high - boxes[i].low * x[i]
    out[i] = wp.dot(size, room) + around.low[0] * x[i]
