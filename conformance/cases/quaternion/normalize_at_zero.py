# The quaternion zero normalises to the identity and has gradient zero; half of the inputs are zero, and half of all
# inputs are shortened.
import warp as wp


# domain: 0 <= kept <= 1
@wp.kernel
def normalize_at_zero(
    q: wp.array(dtype=wp.quat),
    s: wp.array(dtype=float),
    kept: wp.array(dtype=int),
    out: wp.array(dtype=wp.quat),
):
    i = wp.tid()
    p = q[i] * float(kept[i])
    if s[i] < 0.0:
        p = p * 0.5
    out[i] = wp.normalize(p) * s[i] + p
