# One component of a vector in an array is changed in place, by store and by augmented assignment.
import warp as wp


@wp.kernel
def vector_component(v: wp.array(dtype=wp.vec3), x: wp.array(dtype=float)):
    i = wp.tid()
    v[i][1] = v[i][0] * x[i] + 0.5
    v[i][2] += v[i][1] * x[i]
