# The faces of meshes whose boxes overlap a box, and the faces that a sphere touches: counts, and sums of their corners.
import warp as wp


# domain: 0.1 <= size <= 1.5
@wp.kernel
def mesh_faces_in_boxes(
    meshes: wp.array(dtype=wp.uint64),
    x: wp.array(dtype=wp.vec3),
    size: wp.array(dtype=float),
    counts: wp.array2d(dtype=int),
    sums: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    mesh = meshes[i]
    near = wp.vec3(size[i], 2.0 * size[i], 0.5)
    query = wp.mesh_query_aabb(mesh, x[i] - near, x[i] + near)
    face = int(0)
    while wp.mesh_query_aabb_next(query, face):
        counts[i, 0] += 1
        wp.atomic_add(sums, i, wp.mesh_get_point(mesh, 3 * face) * size[i])
    touched = wp.mesh_query_sphere(mesh, x[i], size[i])
    for each in touched:
        if each % 2 == 0:
            continue
        counts[i, 1] += each
    last = int(-1)
    again = wp.mesh_query_sphere(mesh, center=x[i], radius=0.5)
    while counts[i, 1] > 0 and wp.mesh_query_next(again, last):
        counts[i, 2] = wp.max(counts[i, 2], last)
