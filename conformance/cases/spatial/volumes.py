# Volumes of floats: samples in the world with their slopes, and values of voxels.
import warp as wp


@wp.func
def density(volume: wp.uint64, x: wp.vec3):
    return wp.volume_sample_f(volume, wp.volume_world_to_index(volume, x), wp.Volume.LINEAR)


@wp.kernel
def volumes(volume: wp.uint64, x: wp.array(dtype=wp.vec3), y: wp.array(dtype=wp.vec3), near: wp.array(dtype=float)):
    i = wp.tid()
    slope = wp.vec3()
    at = wp.volume_world_to_index(volume, x[i])
    value = wp.volume_sample_grad_f(volume, at, wp.Volume.LINEAR, slope)
    moved = x[i] + wp.volume_index_to_world_dir(volume, 0.25 * slope)
    y[i] = wp.volume_world_to_index_dir(volume, x[i]) * density(volume, moved)
    y[i] += wp.volume_index_to_world(volume, at + wp.vec3(1.0, 0.0, 0.0)) * value
    near[i] = wp.volume_lookup_f(volume, i, 1, i % 2) + wp.volume_sample_f(volume, x[i], wp.Volume.CLOSEST)
