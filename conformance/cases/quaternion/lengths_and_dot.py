# Length, squared length and dot product of quaternions, sums, multiples and quotients.
import warp as wp


@wp.kernel
def lengths_and_dot(
    a: wp.array(dtype=wp.quat),
    b: wp.array(dtype=wp.quat),
    s: wp.array(dtype=float),
    out: wp.array(dtype=float),
    mixed: wp.array(dtype=wp.quat),
):
    i = wp.tid()
    out[i] = wp.dot(a[i], b[i]) * wp.length(a[i] + wp.quat(0.0, 0.0, 3.0, 3.0)) - wp.length_sq(b[i])
    mixed[i] = -a[i] / (s[i] * s[i] + 0.5) + s[i] * b[i] + wp.lerp(a[i], b[i], 0.25)
