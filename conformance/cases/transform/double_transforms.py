# The same operations on transforms and spatial vectors of f64.
import warp as wp


@wp.kernel
def double_transforms(
    a: wp.array(dtype=wp.transformd),
    v: wp.array(dtype=wp.spatial_vectord),
    out: wp.array(dtype=wp.vec3d),
):
    i = wp.tid()
    t = wp.transform_inverse(a[i]) * a[i]
    out[i] = wp.transform_point(t, wp.spatial_top(v[i])) + wp.transform_vector(a[i], wp.spatial_bottom(v[i]))
