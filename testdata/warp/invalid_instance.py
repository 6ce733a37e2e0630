from typing import Any
import warp as wp

@wp.kernel
def fill(a: wp.array[Any], value: Any):
    tid = wp.tid()
    a[tid] = value

vec3b_type = wp.types.vector(3, wp.bool)
fill_float = wp.overload(fill, [wp.array[float], float])
fill_vec3b = wp.overload(fill, [wp.array[vec3b_type], vec3b_type])
