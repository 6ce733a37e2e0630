# The sign of the distance to a mesh by winding numbers, with the default threshold and with a low one.
import warp as wp


@wp.kernel
def mesh_winding_numbers(
    mesh: wp.uint64,
    points: wp.array(dtype=wp.vec3),
    distances: wp.array(dtype=float),
    sides: wp.array(dtype=float),
):
    i = wp.tid()
    query = wp.mesh_query_point_sign_winding_number(mesh, points[i], 1.0, 2.0, 0.03125)
    if query.result:
        closest = wp.mesh_eval_position(mesh, query.face, query.u, query.v)
        distances[i] = query.sign * wp.length(points[i] - closest) + 0.5 * query.u - query.v
    sign = float(0.0)
    face = int(0)
    u = float(0.0)
    v = float(0.0)
    if wp.mesh_query_point_sign_winding_number(mesh, 0.5 * points[i], 1.5, sign, face, u, v):
        sides[i] = sign * (u - 0.5 * v)
