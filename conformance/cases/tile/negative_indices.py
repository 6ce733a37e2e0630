# Indices of tiles that count from the end, known when the kernel is compiled or only at run time.
import warp as wp


# domain: 0 <= place < 3
@wp.kernel
def negative_indices(
    x: wp.array2d(dtype=float),
    v: wp.array2d(dtype=wp.vec2),
    place: wp.array(dtype=int),
    out: wp.array2d(dtype=float),
    turned: wp.array2d(dtype=wp.vec2),
    column: wp.array(dtype=float),
):
    i = wp.tid()
    k = place[i] - 2
    t = wp.tile_load(x, shape=(2, 3), offset=(2 * i, 0))
    w = t * 0.5
    t[-1, k] = t[0, -1] * w[k % 2, 1] + t[-2, k]
    wp.tile_store(out, t, offset=(2 * i, 0))
    wp.tile_store(column, w[:, k], offset=2 * i)
    u = wp.tile_load(v, shape=(2, 3), offset=(2 * i, 0))
    r = u * 0.5
    u[1, k] = r[-1, -1] + r[-2, k] * t[1, -3]
    wp.tile_store(turned, u, offset=(2 * i, 0))
