# A chain of frames, composed in a run-time loop: the forward kinematics of an arm.
import warp as wp


# domain: 0 <= n <= 6
@wp.kernel
def chain_of_frames(
    joints: wp.array(dtype=wp.vec3),
    offsets: wp.array(dtype=wp.vec3),
    n: int,
    out: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    frame = wp.transform(offsets[i], wp.quat_identity())
    for j in range(n):
        turn = wp.quat_rpy(joints[j][0], joints[j][1], joints[j][2])
        frame = wp.transform_multiply(frame, wp.transform(offsets[j] * 0.5, turn))
    out[i] = wp.transform_point(frame, wp.vec3(0.5, -0.25, 1.0))
