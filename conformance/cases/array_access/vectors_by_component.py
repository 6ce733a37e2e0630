# An array of vectors whose elements are written component by component, one of them chosen at run time.
import warp as wp


# domain: 0 <= which <= 2
@wp.kernel
def vectors_by_component(
    x: wp.array(dtype=float), v: wp.array(dtype=wp.vec3), which: wp.array(dtype=int), out: wp.array(dtype=wp.vec3)
):
    i = wp.tid()
    out[i] = v[i] * 0.5
    out[i][0] = x[i] * v[i][2]
    out[i][which[i]] = v[i][which[i]] * x[i]
