# The boxes of a hierarchy that a ray and a capsule meet within a distance.
import warp as wp


# domain: 0.25 <= reach <= 2
@wp.kernel
def bvh_rays(
    bvh: wp.uint64,
    start: wp.array(dtype=wp.vec3),
    dir: wp.array(dtype=wp.vec3),
    reach: float,
    weights: wp.array(dtype=float),
    sums: wp.array(dtype=wp.vec3),
    found: wp.array2d(dtype=int),
):
    i = wp.tid()
    ray = wp.bvh_query_ray(bvh, start[i], dir[i])
    box = int(0)
    while wp.bvh_query_next(ray, box, reach):
        found[i, 0] += 1 << box
        wp.atomic_add(sums, i, dir[i] * weights[box])
    along_axis = wp.bvh_query_ray(bvh, start[i], wp.vec3(1.0, 0.0, 0.0))
    while wp.bvh_query_next(along_axis, box):
        found[i, 1] += 1 << box
    capsule = wp.bvh_query_capsule(bvh, start[i], dir[i], 0.125)
    while wp.bvh_query_next(capsule, box, 1.0):
        found[i, 2] += 1 << box
    upwards = wp.bvh_query_capsule(bvh, start[i], wp.vec3(0.0, 2.0, 0.0), radius=-1.0)
    while wp.bvh_query_next(upwards, box, max_dist=reach):
        found[i, 3] += 1 << box
