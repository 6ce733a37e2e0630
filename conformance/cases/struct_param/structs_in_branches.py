# Structs chosen by a branch, by where and by a function's early return.
import warp as wp


@wp.struct
class Line:
    slope: float
    offset: float

@wp.func
def steeper(a: Line, b: Line):
    if a.slope > b.slope:
        return a
    return b

@wp.kernel
def structs_in_branches(a: wp.array(dtype=Line), b: Line, x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    chosen = steeper(a[i], b)
    if x[i] < 0.0:
        chosen.offset = chosen.offset * x[i]
    out[i] = chosen.slope * x[i] + chosen.offset
