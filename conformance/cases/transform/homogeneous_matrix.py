# A transform as a 4 x 4 matrix and back again.
import warp as wp


@wp.kernel
def homogeneous_matrix(
    pose: wp.array(dtype=wp.transform),
    m: wp.array(dtype=wp.mat44),
    p: wp.array(dtype=wp.vec3),
    out: wp.array(dtype=wp.vec3),
    back: wp.array(dtype=wp.transform),
):
    i = wp.tid()
    out[i] = wp.transform_point(wp.transform_to_matrix(pose[i]), p[i])
    near = wp.transform_to_matrix(pose[i]) + m[i] * 0.05
    back[i] = wp.transform_multiply(wp.transform_from_matrix(near), pose[i])
