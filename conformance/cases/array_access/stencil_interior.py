# Threads at the border of a grid return before the stencil reads beyond it.
import warp as wp


@wp.kernel
def stencil_interior(u: wp.array2d(dtype=float), k: wp.array2d(dtype=float), out: wp.array2d(dtype=float)):
    i, j = wp.tid()
    if i == 0 or j == 0 or i == u.shape[0] - 1 or j == u.shape[1] - 1:
        return
    lap = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j]
    out[i, j] = u[i, j] + k[i, j] * lap
