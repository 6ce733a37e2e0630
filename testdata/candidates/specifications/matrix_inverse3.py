import warp as wp


@wp.kernel
def matrix_inverse3(a: wp.array3d(dtype=float), y: wp.array3d(dtype=float)):
    n = wp.tid()
    m00 = a[n, 0, 0] + 4.0
    m11 = a[n, 1, 1] + 4.0
    m22 = a[n, 2, 2] + 4.0
    m01 = a[n, 0, 1]
    m02 = a[n, 0, 2]
    m10 = a[n, 1, 0]
    m12 = a[n, 1, 2]
    m20 = a[n, 2, 0]
    m21 = a[n, 2, 1]
    det = m00 * (m11 * m22 - m12 * m21) - m01 * (m10 * m22 - m12 * m20) + m02 * (m10 * m21 - m11 * m20)
    y[n, 0, 0] = (m11 * m22 - m12 * m21) / det
    y[n, 0, 1] = (m02 * m21 - m01 * m22) / det
    y[n, 0, 2] = (m01 * m12 - m02 * m11) / det
    y[n, 1, 0] = (m12 * m20 - m10 * m22) / det
    y[n, 1, 1] = (m00 * m22 - m02 * m20) / det
    y[n, 1, 2] = (m02 * m10 - m00 * m12) / det
    y[n, 2, 0] = (m10 * m21 - m11 * m20) / det
    y[n, 2, 1] = (m01 * m20 - m00 * m21) / det
    y[n, 2, 2] = (m00 * m11 - m01 * m10) / det
