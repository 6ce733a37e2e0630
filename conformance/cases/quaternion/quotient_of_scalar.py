# A scalar divided by a quaternion: the quotients of the scalar and each component, all of which are far from zero.
import warp as wp


# domain: 0.5 <= q <= 3
@wp.kernel
def quotient_of_scalar(
    q: wp.array(dtype=wp.quat),
    s: wp.array(dtype=float),
    out: wp.array(dtype=wp.quat),
):
    i = wp.tid()
    out[i] = s[i] / q[i] + wp.quat(w=0.25, x=s[i], y=0.5, z=1.0) * (1.0 / (q[i] + q[i]))
