# A ray against a list of spheres: the nearest hit, its normal and a shade from it.
import warp as wp


# domain: -2 <= origin <= -1
# domain: -1 <= centre <= 1
@wp.kernel
def ray_and_spheres(
    origin: wp.array(dtype=wp.vec3),
    centre: wp.array(dtype=wp.vec3),
    radius: wp.array(dtype=float),
    light: wp.vec3,
    shade: wp.array(dtype=float),
    hit: wp.array(dtype=int),
):
    i = wp.tid()
    d = wp.normalize(wp.vec3(0.875, 1.0, 1.125))
    o = origin[i]
    nearest = float(100.0)
    which = int(-1)
    for j in range(centre.shape[0]):
        m = o - centre[j]
        b = wp.dot(m, d)
        r = 0.75 + 0.25 * radius[j]
        disc = b * b - wp.length_sq(m) + r * r
        if disc <= 0.015625:
            continue
        t = -b - wp.sqrt(disc)
        if t > 0.0 and t < nearest:
            nearest = t
            which = j
    value = float(0.125)
    if which >= 0:
        p = o + d * nearest
        normal = (p - centre[which]) / (0.75 + 0.25 * radius[which])
        value = value + wp.max(wp.dot(normal, light), 0.0)
    shade[i] = value * (1.0 + 0.5 * o[0])
    hit[i] = which
