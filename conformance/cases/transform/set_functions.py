# transform_set_translation and transform_set_rotation change a variable.
import warp as wp


@wp.kernel
def set_functions(
    a: wp.array(dtype=wp.transform),
    v: wp.array(dtype=wp.vec3),
    out: wp.array(dtype=wp.transform),
):
    i = wp.tid()
    t = a[i]
    wp.transform_set_translation(t, wp.cross(t.p, v[i]))
    wp.transform_set_rotation(t, t.q * wp.quat_rpy(v[i][0], v[i][1], v[i][2]))
    out[i] = t
