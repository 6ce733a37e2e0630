# Comparisons of whole vectors, matrices and quaternions: equal if all components are.
import warp as wp


@wp.kernel
def equal_vectors(
    v: wp.array(dtype=wp.vec3i),
    m: wp.array(dtype=wp.mat22),
    q: wp.array(dtype=wp.quat),
    x: wp.array(dtype=float),
    found: wp.array(dtype=int),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    rounded = wp.vec2(wp.round(m[i][0, 0]), wp.round(m[i][1, 1]))
    same = wp.where(v[i] == wp.vec3i(1, v[i][1], v[i][2]), 1, 0) + wp.where(q[i] == q[i], 2, 0)
    found[i] = same + wp.where(not (wp.transpose(m[i]) == m[i]), 4, 0)
    if rounded == wp.vec2(0.0, 0.0) or not (v[i] == v[0]):
        out[i] = x[i] * 2.0
    else:
        out[i] = x[i] * x[i]
