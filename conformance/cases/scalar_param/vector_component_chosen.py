# A component of a vector parameter, chosen at run time.
import warp as wp


# domain: 0 <= which <= 3
@wp.kernel
def vector_component_chosen(
    x: wp.array(dtype=float),
    which: wp.array(dtype=int),
    v: wp.vec4,
    out: wp.array(dtype=float),
):
    i = wp.tid()
    out[i] = v[which[i]] * x[i] + v[0] * v[3]
