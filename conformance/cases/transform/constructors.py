# Every way to make a transform: parts, components, the identity, another transform.
import warp as wp


@wp.kernel
def constructors(
    v: wp.array(dtype=wp.vec3),
    s: wp.array(dtype=float),
    out: wp.array(dtype=wp.transform),
    other: wp.array(dtype=wp.transform),
):
    i = wp.tid()
    joined = wp.transform(v[i], wp.quat(v[i] * 0.5, s[i]))
    listed = wp.transform(s[i], 0.0, v[i][2], 0.5, s[i], -0.5, 1.0)
    general = wp.transformation(v[i] * s[i], wp.quat(s[i], 0.5, v[i][1], 0.25))
    still = wp.transform(v[i], wp.quat_identity()) + wp.transform_identity()
    out[i] = joined * listed
    other[i] = wp.transform_multiply(general, listed) + wp.transform(joined) * 0.5 + still
