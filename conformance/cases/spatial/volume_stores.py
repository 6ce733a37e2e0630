# Stores to voxels of a volume, from the values that its voxels have.
import warp as wp


@wp.func
def scale(volume: wp.uint64, i: int, j: int, k: int, factor: float):
    old = wp.volume_lookup(volume, i, j, k, dtype=float)
    wp.volume_store_f(volume, i, j, k, old * factor)
    return old


# launch: (3, 3, 3)
@wp.kernel
def volume_stores(volume: wp.uint64, x: wp.array3d(dtype=float), y: wp.array3d(dtype=float)):
    i, j, k = wp.tid()
    old = scale(volume, i, j, k, x[i, j, k])
    y[i, j, k] = old * old + wp.volume_lookup_f(volume, i, j, k)
