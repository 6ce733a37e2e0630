# The quaternion zero normalises to the identity and has gradient zero; half of the inputs are such.
import warp as wp


@wp.kernel
def normalize_at_zero(
    q: wp.array(dtype=wp.quat),
    s: wp.array(dtype=float),
    out: wp.array(dtype=wp.quat),
):
    i = wp.tid()
    p = q[i]
    if s[i] < 0.0:
        p = q[i] * 0.0
    out[i] = wp.normalize(p) * s[i] + q[i]
