# wp.div_approx of scalars, vectors, matrices and quaternions; on the CPU it is the ordinary division.
import warp as wp


# domain: 0.5 <= z <= 2
@wp.kernel
def approximate_division(
    x: wp.array(dtype=float),
    z: wp.array(dtype=float),
    v: wp.array(dtype=wp.vec3),
    m: wp.array(dtype=wp.mat22),
    out: wp.array(dtype=float),
    vectors: wp.array(dtype=wp.vec3),
    matrices: wp.array(dtype=wp.mat22),
    rotations: wp.array(dtype=wp.quat),
):
    i = wp.tid()
    s = z[i]
    out[i] = wp.div_approx(x[i], s) + wp.div_approx(b=s + 1.0, a=x[i] * x[i])
    vectors[i] = wp.div_approx(v[i], s) + wp.div_approx(x[i], wp.vec3(s, 2.0, s * s))
    matrices[i] = wp.div_approx(m[i], s) + wp.div_approx(x[i], wp.mat22(s, 1.0, 3.0, s))
    rotations[i] = wp.div_approx(wp.quat(x[i], s, 1.0, 2.0), s) + wp.div_approx(x[i], wp.quat(s, 1.0, s, 3.0))
