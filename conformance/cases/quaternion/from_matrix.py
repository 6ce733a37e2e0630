# The quaternion of a matrix: which of four formulas it takes depends on trace and diagonal, and inputs take each.
import warp as wp


@wp.kernel
def from_matrix(
    m: wp.array(dtype=wp.mat33),
    s: wp.array(dtype=float),
    out: wp.array(dtype=wp.quat),
):
    i = wp.tid()
    out[i] = wp.quat_from_matrix(m[i]) * s[i] + wp.quat_from_matrix(wp.identity(n=3, dtype=float) + m[i] * 1.25)
