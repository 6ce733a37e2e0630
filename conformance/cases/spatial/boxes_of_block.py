# Queries of boxes by the threads of a block together.
import warp as wp


@wp.kernel
def boxes_of_block(
    bvh: wp.uint64,
    corners: wp.array(dtype=wp.vec3),
    directions: wp.array(dtype=wp.vec3),
    boxes: wp.array2d(dtype=int),
    rays: wp.array2d(dtype=int),
):
    i = wp.tid()
    query = wp.tile_bvh_query_aabb(bvh, corners[i] - wp.vec3(0.5), corners[i] + wp.vec3(0.5))
    while wp.tile_query_valid(query):
        box = wp.untile(wp.tile_bvh_query_next(query))
        if box >= 0:
            wp.atomic_add(boxes, i, box, 1)
    ray = wp.bvh_query_ray_tiled(bvh, corners[i], directions[i])
    found = wp.bvh_query_next_tiled(ray)
    while wp.tile_max(found)[0] >= 0:
        box = wp.untile(found)
        rays[i, box] = box + 1
        found = wp.bvh_query_next_tiled(ray)
