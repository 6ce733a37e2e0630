# The centre of a mesh's points, and the point and the velocity of a vertex of a face.
import warp as wp


@wp.kernel
def mesh_arrays(mesh: wp.uint64, out: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    surface = wp.mesh_get(mesh)
    total = wp.vec3()
    for k in range(surface.points.shape[0]):
        total += surface.points[k]
    vertex = surface.indices[i]
    if wp.mesh_get_index(mesh, 0) == vertex:
        total += wp.mesh_get(mesh).velocities[vertex]
    out[i] = total / float(surface.points.shape[0]) + surface.velocities[vertex]
