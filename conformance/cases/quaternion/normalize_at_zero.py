# The quaternion zero normalises to the identity and has gradient zero; a quarter of the inputs are zero, another
# quarter is shortened.
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
        p = q[i] * 0.5
    if s[i] < -1.0:
        p = q[i] * 0.0
    out[i] = wp.normalize(p) * s[i] + p
