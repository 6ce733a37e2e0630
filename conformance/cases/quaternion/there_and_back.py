# Axis and angle to a quaternion, to a matrix, to a quaternion: back at the first, up to its sign, by each
# of the four ways.
import warp as wp


# domain: 0.25 <= angle <= 3
# domain: 0.25 <= axis <= 2
@wp.kernel
def there_and_back(
    axis: wp.array(dtype=wp.vec3),
    angle: wp.array(dtype=float),
    out: wp.array(dtype=wp.quat),
):
    i = wp.tid()
    unit = wp.normalize(axis[i])
    q = wp.quat_from_axis_angle(unit, angle[i])
    p = wp.quat_from_matrix(wp.quat_to_matrix(q))
    out[i] = p * angle[i] + q * 0.5
