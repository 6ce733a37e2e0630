# Every way to make a quaternion: components, vector and scalar part, the identity, another quaternion.
import warp as wp


@wp.kernel
def constructors(
    v: wp.array(dtype=wp.vec3),
    s: wp.array(dtype=float),
    out: wp.array(dtype=wp.quat),
):
    i = wp.tid()
    listed = wp.quat(s[i], 0.5, v[i][2], 1.0)
    joined = wp.quat(v[i], s[i])
    general = wp.quaternion(v[i][0], 0.0, s[i], -0.5)
    copied = wp.quat(joined)
    out[i] = listed * copied + general * 0.5 - wp.quat_identity() * s[i]
