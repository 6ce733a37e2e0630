# Structs in an array of two dimensions, written transposed.
import warp as wp


@wp.struct
class Cell:
    height: float
    flow: wp.vec2

@wp.kernel
def two_dimensional_structs(cells: wp.array2d(dtype=Cell), rate: float, out: wp.array2d(dtype=Cell)):
    i, j = wp.tid()
    c = cells[i, j]
    c.height = c.height - rate * (c.flow[0] + c.flow[1] * c.height)
    c.flow = c.flow * c.height
    out[j, i] = c
