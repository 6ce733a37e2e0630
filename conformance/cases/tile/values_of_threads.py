# Tiles of the values of the threads of a block, and the values of the threads in tiles.
import warp as wp


@wp.kernel
def values_of_threads(
    x: wp.array(dtype=float),
    forces: wp.array(dtype=wp.vec3),
    stress: wp.array(dtype=wp.mat22),
    y: wp.array(dtype=float),
    total: wp.array(dtype=float),
    doubled: wp.array(dtype=wp.vec3),
    moved: wp.array(dtype=wp.mat22),
):
    i = wp.tid()
    squares = wp.tile(x[i] * x[i])
    wp.tile_atomic_add(total, wp.tile_sum(squares))
    y[i] = wp.untile(wp.tile_map(wp.sin, squares)) + wp.tile_max(squares)[0]
    force = forces[i] * 3.0
    kept = wp.tile(force, preserve_type=True)
    doubled[i] = wp.untile(wp.tile(force) * 2.0) + wp.untile(kept) + wp.tile_reduce(wp.min, kept)[0]
    moved[i] = wp.untile(wp.tile(stress[i] * 2.0))
