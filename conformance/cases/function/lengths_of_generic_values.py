# A generic function that loops over the components of its argument: `length` of a vector, a matrix and a type.
from typing import Any

import warp as wp


@wp.func
def sum_of_squares(v: Any):
    s = v.dtype(0.0)
    for k in range(v.length):
        s += v[k] * v[k]
    return s


@wp.func
def trace_of_square(m: Any):
    unit = wp.identity(n=type(m[0]).length, dtype=m.dtype)
    return wp.trace(m * m + unit) * m.dtype(m.length)


@wp.kernel
def lengths_of_generic_values(
    x: wp.array(dtype=wp.vec3), y: wp.array(dtype=wp.vec2d), m: wp.array(dtype=wp.mat33), out: wp.array(dtype=float)
):
    i = wp.tid()
    out[i] = sum_of_squares(x[i]) * trace_of_square(m[i]) + float(sum_of_squares(y[i]))
