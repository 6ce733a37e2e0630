# Queries of meshes that assign their results to variables.
import warp as wp


@wp.func
def distance(mesh: wp.uint64, x: wp.vec3, reach: float):
    sign = float(0.5)
    face = int(0)
    u = float(0.0)
    v = float(0.0)
    if not wp.mesh_query_point(mesh, x, reach, sign, face, u, v):
        return reach + sign
    return sign * wp.length(wp.mesh_eval_position(mesh, face, u, v) - x) + 0.5 * u - v


# domain: 0.2 <= reach <= 1.2
@wp.kernel
def mesh_query_outputs(
    mesh: wp.uint64,
    x: wp.array(dtype=wp.vec3),
    dir: wp.array(dtype=wp.vec3),
    reach: float,
    distances: wp.array(dtype=float),
    hits: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    distances[i] = distance(mesh, x[i], reach)
    t = float(-1.0)
    u = float(0.0)
    v = float(0.0)
    sign = float(0.0)
    normal = wp.vec3()
    face = int(-1)
    if x[i][0] > -1.0 and wp.mesh_query_ray(mesh, x[i], dir[i], 2.0, t, u, v, sign, normal, face):
        hits[i] = x[i] + t * dir[i] + normal * u
    else:
        hits[i] = wp.vec3(t, u, float(face)) - reach * dir[i]
    found = wp.mesh_query_furthest_point_no_sign(mesh, x[i], 4.0, face, u, v)
    if found:
        hits[i] += wp.vec3(0.0, 0.0, wp.length(wp.mesh_eval_position(mesh, face, u, v) - x[i]))
    hits[i] += wp.vec3(0.5 * u, v, 0.0)
