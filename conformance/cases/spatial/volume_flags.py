# Volumes of integers: lookups and the closest voxel.
import warp as wp


@wp.kernel
def volume_flags(flags: wp.uint64, x: wp.array(dtype=wp.vec3), y: wp.array(dtype=int)):
    i = wp.tid()
    y[i] = wp.volume_sample_i(flags, x[i]) + 3 * wp.volume_lookup_i(flags, i, i - 1, 1)
    y[i] += wp.volume_sample(flags, 2.0 * x[i], wp.Volume.CLOSEST, dtype=int)
    if wp.volume_lookup(flags, 1, 1, 1, dtype=int) > 0:
        y[i] -= 7
