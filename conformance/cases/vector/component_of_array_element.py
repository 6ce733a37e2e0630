# A component of an array's element is written: the other components keep their values.
import warp as wp


@wp.kernel
def component_of_array_element(
    x: wp.array(dtype=wp.vec3),
    s: wp.array(dtype=float),
    out: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    out[i] = x[i] * 2.0
    out[i][1] = s[i] * x[i][0]
