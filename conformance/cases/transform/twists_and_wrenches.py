# A twist and a wrench seen from another frame, and the velocity of a point of the body.
import warp as wp


@wp.kernel
def twists_and_wrenches(
    pose: wp.array(dtype=wp.transform),
    twist: wp.array(dtype=wp.spatial_vector),
    wrench: wp.array(dtype=wp.spatial_vector),
    r: wp.array(dtype=wp.vec3),
    out: wp.array(dtype=wp.vec3),
    power: wp.array(dtype=float),
):
    i = wp.tid()
    moved = wp.transform_twist(pose[i], twist[i])
    force = wp.transform_wrench(pose[i], wrench[i])
    power[i] = wp.spatial_dot(moved, force)
    out[i] = wp.velocity_at_point(moved, r[i]) + wp.velocity_at_point(twist[i], wp.vec3(1.0, 0.0, -0.5))
