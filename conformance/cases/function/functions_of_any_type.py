# Generic functions, instantiated for each type that they are called with, and generic kernels, whose types an overload
# specifies.
from typing import Any

import warp as wp


@wp.func
def mixed(a: Any, b: Any, t: Any):
    return a * (type(t)(1.0) - t) + b * t


@wp.func
def squared_twice(a: Any):
    s = a * a
    return s * s


@wp.kernel
def functions_of_any_type_template(
    x: wp.array(dtype=Any), v: wp.array(dtype=wp.vec3), w: Any, out: wp.array(dtype=Any)
):
    i = wp.tid()
    u = mixed(v[i], v[0], 0.25)
    out[i] = squared_twice(x[i]) * x.dtype(u[0]) + mixed(x[i], w, x[i]) * x.dtype(squared_twice(u[1]))


functions_of_any_type = wp.overload(
    functions_of_any_type_template,
    [wp.array(dtype=wp.float64), wp.array(dtype=wp.vec3), wp.float64, wp.array(dtype=wp.float64)],
)
