# Overloaded functions take keyword arguments and defaults; the first overload that fits is called.
import warp as wp


@wp.func
def scaled(x: float, factor: float = 2.0, shift: float = 0.5):
    return x * factor + shift


@wp.func
def scaled(x: wp.vec2, factor: float = 3.0):
    return x * factor


@wp.kernel
def overloads_with_defaults(x: wp.array(dtype=float), v: wp.array(dtype=wp.vec2), out: wp.array(dtype=float)):
    i = wp.tid()
    w = scaled(v[i])
    u = scaled(v[i], factor=x[i])
    out[i] = scaled(x[i]) + scaled(x[i], shift=w[0]) * scaled(factor=u[1], x=x[i])
