# wp.lerp between matrices by an active weight, square and rectangular, applied to a vector.
import warp as wp


@wp.kernel
def lerp_of_matrices(
    a: wp.array(dtype=wp.mat33),
    b: wp.array(dtype=wp.mat33),
    v: wp.array(dtype=wp.vec3),
    t: wp.array(dtype=float),
    out: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    out[i] = wp.lerp(a[i], wp.transpose(b[i]), t[i]) * v[i]
