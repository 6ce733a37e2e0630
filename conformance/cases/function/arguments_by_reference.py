# Functions change variables, components, struct fields and array elements that they receive by reference.
import warp as wp


@wp.struct
class Body:
    v: wp.vec3
    n: int


@wp.func
def add_square(x: wp.ref[float], d: float):
    x += d * d


@wp.func
def exchange_or_add(x: wp.ref[float], y: wp.ref[float], a: float) -> float:
    if a > 0.5:
        x, y = y, x
        return a
    add_square(x, a)
    y = x * y
    return x + y


@wp.func
def push(b: wp.ref[Body], k: float):
    b.v[1] += k
    b.n += 1


@wp.kernel(enable_backward=False)
def arguments_by_reference(
    x: wp.array(dtype=float),
    w: wp.array(dtype=wp.vec3),
    out: wp.array(dtype=float),
    moved: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    a = x[i]
    b = float(2.0)
    c = exchange_or_add(a, b, x[i] + 0.25)
    out[i] = a * c
    add_square(out[i], b)
    v = w[i]
    add_square(v[1], a)
    s = Body()
    s.v = v
    for _ in range(3):
        push(s, b)
    moved[i] = s.v * float(s.n)
