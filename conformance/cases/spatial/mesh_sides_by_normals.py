# The side of a mesh on which points lie, by the normals of the faces that are closest.
import warp as wp


# domain: 0.4 <= reach <= 2
@wp.kernel
def mesh_sides_by_normals(
    meshes: wp.array(dtype=wp.uint64),
    x: wp.array(dtype=wp.vec3),
    reach: float,
    distances: wp.array(dtype=float),
    signs: wp.array(dtype=float),
):
    i = wp.tid()
    query = wp.mesh_query_point_sign_normal(meshes[i], x[i], reach)
    if query.result:
        closest = wp.mesh_eval_position(meshes[i], query.face, query.u, query.v)
        distances[i] = query.sign * wp.length(closest - x[i]) + 0.5 * query.u - query.v
    else:
        distances[i] = reach
    sign = float(2.0)
    face = int(0)
    u = float(0.0)
    v = float(0.0)
    wp.mesh_query_point_sign_normal(meshes[i], x[i], 0.75, sign, face, u, v, 0.002)
    signs[i] = sign
