# The points of a mesh that are closest to given points, if they are near enough.
import warp as wp


# domain: 0.2 <= reach <= 1.2
@wp.kernel
def mesh_closest_points(
    mesh: wp.uint64,
    x: wp.array(dtype=wp.vec3),
    reach: float,
    closest: wp.array(dtype=wp.vec3),
    weights: wp.array(dtype=wp.vec2),
    faces: wp.array(dtype=int),
):
    i = wp.tid()
    query = wp.mesh_query_point_no_sign(mesh, x[i], reach)
    weights[i] = wp.vec2(query.u + query.sign, query.v)
    if query.result:
        closest[i] = wp.mesh_eval_position(mesh, query.face, query.u, query.v)
        faces[i] = query.face
    else:
        closest[i] = x[i] * 2.0
        faces[i] = query.face - 1
