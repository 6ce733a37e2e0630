# Queries of the faces of a mesh by the threads of a block together, and a product over these faces.
import warp as wp


@wp.kernel
def faces_of_block(
    mesh: wp.uint64,
    corners: wp.array(dtype=wp.vec3),
    places: wp.array2d(dtype=float),
    counts: wp.array2d(dtype=int),
    products: wp.array(dtype=float),
):
    i = wp.tid()
    product = float(1.0)
    query = wp.tile_mesh_query_aabb(mesh, corners[i] - wp.vec3(0.75), corners[i] + wp.vec3(0.25))
    while wp.tile_query_valid(query):
        face = wp.untile(wp.tile_mesh_query_aabb_next(query))
        if face >= 0:
            place = wp.mesh_eval_position(mesh, face, 0.25, 0.5)[0]
            places[i, face] = place
            product *= 1.0 + 0.125 * wp.sin(place)
            wp.atomic_add(counts, i, face, 1)
    products[i] = product
