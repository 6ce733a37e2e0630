# Structs made field by field and stored whole; the previous content of the array is overwritten.
import warp as wp


@wp.struct
class Pair:
    first: float
    second: wp.vec2

@wp.kernel
def structs_written_whole(x: wp.array(dtype=float), y: wp.array(dtype=float), pairs: wp.array(dtype=Pair)):
    i = wp.tid()
    p = Pair()
    p.first = x[i] * y[i]
    p.second = wp.vec2(wp.sin(x[i]), y[i] * y[i])
    pairs[i] = p
