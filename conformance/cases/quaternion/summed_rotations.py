# All threads add a quaternion to one element, half of them choose the conjugate.
import warp as wp


@wp.kernel
def summed_rotations(
    q: wp.array(dtype=wp.quat),
    w: wp.array(dtype=float),
    out: wp.array(dtype=wp.quat),
):
    i = wp.tid()
    chosen = wp.where(w[i] < 0.0, wp.quat_inverse(q[i]), q[i])
    wp.atomic_add(out, 0, chosen * w[i])
