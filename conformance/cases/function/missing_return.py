# Functions that may end without a return statement: Warp returns zero.
import warp as wp


@wp.struct
class Step:
    length: float
    count: int


@wp.func
def root(x: float):
    if x > 0.0:
        return wp.sqrt(x)
    if x < -1.0:
        return -x


@wp.func
def step(x: float):
    if x > 0.5:
        found = Step()
        found.length = x
        found.count = 2
        return found


@wp.kernel
def missing_return(x: wp.array(dtype=float), y: wp.array(dtype=float), counts: wp.array(dtype=int)):
    i = wp.tid()
    found = step(x[i])
    y[i] = root(x[i]) + found.length
    counts[i] = found.count
