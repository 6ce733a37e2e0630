# A Morton code: the bits of two coordinates, interleaved by shifts and masks.
import warp as wp


# domain: 0 <= x <= 65535
# domain: 0 <= y <= 65535
@wp.kernel
def interleaved_bits(x: wp.array(dtype=wp.uint32), y: wp.array(dtype=wp.uint32), code: wp.array(dtype=wp.uint32)):
    i = wp.tid()
    a = x[i]
    b = y[i]
    a = (a | (a << wp.uint32(8))) & wp.uint32(0x00FF00FF)
    b = (b | (b << wp.uint32(8))) & wp.uint32(0x00FF00FF)
    a = (a | (a << wp.uint32(4))) & wp.uint32(0x0F0F0F0F)
    b = (b | (b << wp.uint32(4))) & wp.uint32(0x0F0F0F0F)
    a = (a | (a << wp.uint32(2))) & wp.uint32(0x33333333)
    b = (b | (b << wp.uint32(2))) & wp.uint32(0x33333333)
    a = (a | (a << wp.uint32(1))) & wp.uint32(0x55555555)
    b = (b | (b << wp.uint32(1))) & wp.uint32(0x55555555)
    code[i] = a | (b << wp.uint32(1))
