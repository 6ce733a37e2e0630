# The points of a mesh that are furthest from given points, if they are far enough.
import warp as wp


@wp.kernel
def mesh_furthest_points(
    meshes: wp.array(dtype=wp.uint64),
    x: wp.array(dtype=wp.vec3),
    far: wp.array(dtype=wp.vec3),
    weights: wp.array(dtype=wp.vec2),
    faces: wp.array(dtype=int),
):
    i = wp.tid()
    query = wp.mesh_query_furthest_point_no_sign(meshes[i], x[i], min_dist=4.0)
    weights[i] = wp.vec2(query.u, query.v + query.sign)
    faces[i] = query.face
    if query.result:
        far[i] = x[i] - wp.mesh_eval_position(meshes[i], query.face, query.u, query.v)
    else:
        far[i] = 2.0 * x[i]
