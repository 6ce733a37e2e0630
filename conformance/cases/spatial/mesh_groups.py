# Rays that meet only the faces of one group of a mesh.
import warp as wp


@wp.kernel
def mesh_groups(
    mesh: wp.uint64,
    starts: wp.array(dtype=wp.vec3),
    directions: wp.array(dtype=wp.vec3),
    groups: wp.array(dtype=int),
    times: wp.array(dtype=float),
    counts: wp.array(dtype=int),
):
    i = wp.tid()
    root = wp.mesh_get_group_root(mesh, groups[i] & 3)
    query = wp.mesh_query_ray(mesh, starts[i], directions[i], 1.5, root)
    times[i] = -1.0
    if query.result:
        times[i] = query.t * query.sign
    counts[i] = wp.mesh_query_ray_count_intersections(mesh, starts[i], directions[i], root=root)
    if wp.mesh_query_ray_anyhit(mesh, starts[i], -1.0 * directions[i], 1.5, root):
        counts[i] += 100
