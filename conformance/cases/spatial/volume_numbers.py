# Volumes that number their voxels: values in an array, and the number and count of voxels.
import warp as wp


@wp.kernel
def volume_numbers(
    volume: wp.uint64,
    values: wp.array(dtype=float),
    x: wp.array(dtype=wp.vec3),
    y: wp.array(dtype=float),
    slopes: wp.array(dtype=wp.vec3),
    numbers: wp.array(dtype=int),
):
    i = wp.tid()
    slope = wp.vec3()
    blend = wp.volume_sample_grad_index(volume, 1.5 * x[i], wp.Volume.LINEAR, values, 0.5, slope)
    y[i] = blend * wp.volume_sample_index(volume, x[i], wp.Volume.LINEAR, values, x[i][0])
    slopes[i] = slope
    number = wp.volume_lookup_index(volume, i % 4, 1, 0)
    numbers[i] = number + 100 * wp.volume_voxel_count(volume)
