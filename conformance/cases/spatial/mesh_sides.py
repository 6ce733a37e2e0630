# The side of a mesh on which points lie, by rays along the axes and by the parity of the number of hits.
import warp as wp


@wp.kernel
def mesh_sides(
    mesh: wp.uint64,
    x: wp.array(dtype=wp.vec3),
    distances: wp.array(dtype=float),
    signs: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    query = wp.mesh_query_point(mesh, x[i], 1.0)
    if query.result:
        closest = wp.mesh_eval_position(mesh, query.face, query.u, query.v)
        distances[i] = query.sign * wp.length(x[i] - closest) + 0.5 * query.u - query.v
    one_ray = wp.mesh_query_point_sign_parity(mesh, x[i], 0.5)
    rays = wp.mesh_query_point_sign_parity(mesh, x[i], max_dist=0.75, n_sample=5, perturbation_scale=0.75)
    signs[i] = wp.vec3(query.sign, one_ray.sign, rays.sign)
