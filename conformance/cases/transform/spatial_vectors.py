# Spatial vectors made and taken apart, their dot product and both cross products.
import warp as wp


@wp.kernel
def spatial_vectors(
    a: wp.array(dtype=wp.spatial_vector),
    b: wp.array(dtype=wp.spatial_vector),
    out: wp.array(dtype=wp.spatial_vector),
    power: wp.array(dtype=float),
):
    i = wp.tid()
    swapped = wp.spatial_vector(wp.spatial_bottom(a[i]), wp.spatial_top(a[i]) * 2.0)
    out[i] = wp.spatial_cross(a[i], b[i]) - wp.spatial_cross_dual(swapped, b[i])
    power[i] = wp.spatial_dot(swapped, b[i]) + a[i][4] * b[i][1]
