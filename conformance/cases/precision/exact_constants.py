# Constants keep the digits of their Python value until a type is asked for: a 64-bit type gets all of them.
import math

import warp as wp

ROOT = 1.4142135623730951
THIRD = wp.constant(1.0 / 3.0)
BIG = 1 << 40
FLOORS = math.floor(7.9) + math.ceil(0.2)


@wp.kernel
def exact_constants(
    x: wp.array(dtype=wp.float64),
    out: wp.array(dtype=wp.float64),
    rounded: wp.array(dtype=float),
    large: wp.array(dtype=wp.int64),
    bits: wp.array(dtype=wp.uint32),
):
    i = wp.tid()
    digits = 2.718281828459045
    v = wp.vec3d(ROOT, -THIRD, 0.1)
    out[i] = x[i] * wp.float64(ROOT) + wp.float64(-1.1) * wp.float64(digits) + wp.dot(v, v) * x[i]
    rounded[i] = float(x[i]) * THIRD + float(FLOORS)
    large[i] = wp.int64(BIG) + wp.int64(i)
    bits[i] = wp.uint32(0xFFFFFFFF) - wp.uint32(i)
