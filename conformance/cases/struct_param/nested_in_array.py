# Nested structs in an array, read and written through both levels.
import warp as wp


@wp.struct
class Inner:
    a: float
    v: wp.vec2

@wp.struct
class Outer:
    inner: Inner
    b: float

@wp.kernel
def nested_in_array(x: wp.array(dtype=Outer), y: wp.array(dtype=Outer), out: wp.array(dtype=float)):
    i = wp.tid()
    o = x[i]
    o.inner.a = o.inner.a * o.b
    o.b = o.inner.v[0] + o.inner.a
    o.inner.v = o.inner.v * 0.5
    y[i] = o
    out[i] = o.b * x[i].inner.v[1]
