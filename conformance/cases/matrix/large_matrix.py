# A 6 x 6 matrix: products, a row, the double dot product.
import warp as wp


@wp.kernel
def large_matrix(
    m: wp.array(dtype=wp.spatial_matrix),
    v: wp.array(dtype=wp.spatial_vector),
    out: wp.array(dtype=wp.spatial_vector),
    norm: wp.array(dtype=float),
):
    i = wp.tid()
    out[i] = m[i] * v[i] * 0.5 + m[i][4] - v[i] * m[i]
    norm[i] = wp.ddot(m[i], m[i]) * 0.1 + m[i][5, 2] * v[i][3]
