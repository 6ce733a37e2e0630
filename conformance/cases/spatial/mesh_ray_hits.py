# The first hits of rays on several meshes, and whether and how often rays hit a mesh.
import warp as wp


@wp.func
def hit_of(mesh: wp.uint64, start: wp.vec3, dir: wp.vec3):
    return wp.mesh_query_ray(mesh, start, dir, 1.5)


@wp.kernel
def mesh_ray_hits(
    meshes: wp.array(dtype=wp.uint64),
    start: wp.array(dtype=wp.vec3),
    dir: wp.array(dtype=wp.vec3),
    hits: wp.array(dtype=wp.vec3),
    weights: wp.array(dtype=wp.vec3),
    faces: wp.array(dtype=int),
    counts: wp.array(dtype=int),
):
    i = wp.tid()
    hit = hit_of(meshes[i], start[i], dir[i])
    faces[i] = hit.face
    weights[i] = wp.vec3(hit.u, hit.v, hit.sign)
    if hit.result:
        hits[i] = start[i] + hit.t * dir[i] + 0.5 * hit.normal
    else:
        hits[i] = wp.vec3(0.0, hit.t, 1.0) + hit.normal - 0.5 * dir[i]
    counts[i] = wp.mesh_query_ray_count_intersections(meshes[i], start[i], dir[i])
    if wp.mesh_query_ray_anyhit(meshes[i], start[i], dir=dir[i], max_t=0.75, root=-1):
        counts[i] += 100
