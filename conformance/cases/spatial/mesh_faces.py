# Points, velocities and normals of the faces of several meshes.
import warp as wp


@wp.func
def corner(mesh: wp.uint64, face: int, number: int):
    return wp.mesh_get_point(mesh, face * 3 + number)


@wp.kernel
def mesh_faces(
    meshes: wp.array(dtype=wp.uint64),
    u: wp.array(dtype=float),
    points: wp.array2d(dtype=wp.vec3),
    normals: wp.array2d(dtype=wp.vec3),
    shifts: wp.array2d(dtype=wp.vec3),
):
    i, face = wp.tid()
    mesh = meshes[i]
    points[i, face] = wp.mesh_eval_position(mesh, face, u[face], 0.25)
    normals[i, face] = wp.mesh_eval_face_normal(mesh, face)
    velocity = wp.mesh_eval_velocity(mesh, face, bary_u=u[face], bary_v=0.5)
    shifts[i, face] = velocity + corner(mesh, face, 2) * 0.125 + wp.mesh_get_velocity(mesh, 3 * face)
