# Trace, double dot product, the diagonal taken out and put in.
import warp as wp


@wp.kernel
def diagonals(
    a: wp.array(dtype=wp.mat33),
    b: wp.array(dtype=wp.mat33),
    out: wp.array(dtype=wp.mat33),
    norm: wp.array(dtype=float),
):
    i = wp.tid()
    d = wp.get_diag(a[i])
    norm[i] = wp.ddot(a[i], b[i]) + wp.trace(a[i]) * wp.length_sq(d)
    out[i] = wp.diag(wp.cw_mul(d, wp.get_diag(b[i]))) - b[i] * wp.trace(b[i])
