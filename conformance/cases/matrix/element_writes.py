# Elements written one after another, one of them twice, one from others.
import warp as wp


@wp.kernel
def element_writes(
    x: wp.array(dtype=wp.mat22),
    s: wp.array(dtype=float),
    out: wp.array(dtype=wp.mat22),
):
    i = wp.tid()
    m = x[i]
    m[0, 1] = s[i] * m[1, 0]
    m[1, 1] = m[0, 1] * m[1, 1] + 1.0
    m[0, 1] = m[0, 1] - m[1, 1] * m[0, 0]
    m[1, 0] += m[0, 0] * 0.5
    out[i] = m + x[i] * 0.5
