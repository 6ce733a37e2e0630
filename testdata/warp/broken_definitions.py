import warp as wp

@wp.kernel
def a(x: wp.array(dtype=float):
    x[0] = 1.0

@wp.kernel
def b(x: wp.array(dtype=float)):
    x[0] = 2.0

@wp.struct
class S:
    v: wp.vec3
    s: S

@wp.func
def f(s: S) -> float:
    return f(s)

@wp.kernel
def c(s: S, x: wp.array(dtype=S)):
    x[0].v[1] += f(s)
