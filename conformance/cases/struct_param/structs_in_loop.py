# A loop over structs in an array, with a struct that its trips carry.
import warp as wp


@wp.struct
class Moment:
    total: float
    centre: wp.vec2

# domain: 0 <= n <= 6
@wp.kernel
def structs_in_loop(parts: wp.array(dtype=Moment), x: wp.array(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    m = Moment()
    m.total = 0.5 + x[i] * x[i]
    m.centre = wp.vec2(0.25, x[i])
    for j in range(n):
        p = parts[j]
        m.centre = m.centre * 0.5 + p.centre * (p.total / (1.0 + m.total * m.total))
        m.total = 0.75 * m.total + p.total * m.centre[0]
    out[i] = m.total * m.centre[1]
