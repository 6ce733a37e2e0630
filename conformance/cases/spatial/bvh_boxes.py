# The boxes of a hierarchy that overlap a box and that a sphere touches, and sums of vectors of these boxes.
import warp as wp


# domain: 0.1 <= size <= 1.5
@wp.kernel
def bvh_boxes(
    bvhs: wp.array(dtype=wp.uint64),
    x: wp.array(dtype=wp.vec3),
    size: wp.array(dtype=float),
    centers: wp.array(dtype=wp.vec3),
    found: wp.array2d(dtype=int),
    sums: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    near = wp.vec3(size[i], 0.5, 2.0 * size[i])
    query = wp.bvh_query_aabb(bvhs[i], x[i] - near, x[i] + near)
    box = int(0)
    while wp.bvh_query_next(query, box):
        found[i, 0] += 1 << box
        wp.atomic_add(sums, i, centers[box] * size[i])
    touched = wp.bvh_query_sphere(bvhs[i], center=x[i], radius=size[i])
    while wp.bvh_query_next(touched, box):
        found[i, 1] += box + 100
