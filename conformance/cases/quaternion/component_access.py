# Components read by name and number, and written one after another, one from another.
import warp as wp


@wp.kernel
def component_access(
    x: wp.array(dtype=wp.quat),
    s: wp.array(dtype=float),
    out: wp.array(dtype=wp.quat),
    total: wp.array(dtype=float),
):
    i = wp.tid()
    q = x[i]
    total[i] = q.x * q[3] + q.w * q.w - q[1] * q.z
    q[0] = s[i] * q[1]
    q[3] = q[0] * q[3] + 1.0
    q[0] = q[0] - q[3] * q[2]
    out[i] = q + x[i] * 0.5
