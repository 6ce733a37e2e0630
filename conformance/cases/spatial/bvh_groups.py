# The boxes of a hierarchy that overlap a box and are in the group of a thread.
import warp as wp


# domain: 0 <= groups <= 3
@wp.kernel
def bvh_groups(
    bvh: wp.uint64,
    x: wp.array(dtype=wp.vec3),
    groups: wp.array(dtype=int),
    weights: wp.array(dtype=float),
    found: wp.array(dtype=int),
    sums: wp.array(dtype=float),
):
    i = wp.tid()
    root = wp.bvh_get_group_root(bvh, groups[i])
    if root < 0:
        found[i] = -1
        return
    query = wp.bvh_query_aabb(bvh, x[i] - wp.vec3(0.5), x[i] + wp.vec3(0.5), root)
    box = int(0)
    sum = float(0.0)
    while wp.bvh_query_next(query, box):
        found[i] += 1 << box
        sum += weights[box] * weights[box]
    sums[i] = sum
