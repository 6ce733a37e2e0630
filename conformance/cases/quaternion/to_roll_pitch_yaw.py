# The angles of a rotation: inverse functions of its entries, far from their edges and near them.
import warp as wp


@wp.kernel
def to_roll_pitch_yaw(q: wp.array(dtype=wp.quat), scale: wp.array(dtype=float), out: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    out[i] = wp.quat_to_rpy(wp.normalize(q[i])) * scale[i]
