# Functions that write their results to variables: a QR decomposition, a singular value decomposition, and an axis with
# its angle.
import warp as wp


@wp.kernel
def results_in_arguments(
    a: wp.array(dtype=wp.mat33),
    m: wp.array(dtype=wp.mat22),
    q: wp.array(dtype=wp.quat),
    triangle: wp.array(dtype=wp.mat33),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    orthogonal = wp.mat33()
    upper = wp.mat33()
    wp.qr3(a[i] + wp.identity(n=3, dtype=float) * 3.0, orthogonal, upper)
    triangle[i] = upper * orthogonal
    left = wp.mat22()
    values = wp.vec2()
    right = wp.mat22()
    wp.svd2(m[i], left, values, right)
    axis = wp.vec3()
    angle = float(0.0)
    wp.quat_to_axis_angle(wp.normalize(q[i]), axis, angle)
    out[i] = angle * axis[0] + values[0] * values[1] + float(len(q[i]))
