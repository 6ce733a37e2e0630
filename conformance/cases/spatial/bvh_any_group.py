# One variable holds a query of all boxes or of one group of them.
import warp as wp


@wp.kernel
def bvh_any_group(
    bvh: wp.uint64, points: wp.array(dtype=wp.vec3), groups: wp.array(dtype=int), counts: wp.array(dtype=int)
):
    i = wp.tid()
    low = points[i] - wp.vec3(0.75)
    high = points[i] + wp.vec3(0.75)
    query = wp.bvh_query_aabb(bvh, low, high)
    if groups[i] > 0:
        query = wp.bvh_query_aabb(bvh, low, high, wp.bvh_get_group_root(bvh, groups[i] & 3))
    box = int(0)
    count = int(0)
    while wp.bvh_query_next(query, box):
        count += 1 + box
    counts[i] = count
