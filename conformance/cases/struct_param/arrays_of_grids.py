# An array of structs that contain arrays: read and written in place, copied, passed to functions, and passed whole.
import warp as wp


@wp.struct
class Samples:
    values: wp.array(dtype=float)
    offset: float


@wp.struct
class Grid:
    samples: Samples
    slopes: wp.array2d(dtype=float)
    scale: float
    sums: wp.array(dtype=float)


@wp.func
def sample(samples: Samples, i: int):
    return samples.values[i] + samples.offset


@wp.func
def value_of(grid: Grid, i: int, x: float):
    return grid.scale * (sample(grid.samples, i) + grid.slopes[i, -1] * x * x)


@wp.func
def last_scale(grids: wp.array(dtype=Grid)):
    return grids[-1].scale


@wp.kernel
def arrays_of_grids(grids: wp.array(dtype=Grid), x: wp.array2d(dtype=float), y: wp.array2d(dtype=float)):
    g, i = wp.tid()
    grid = grids[g]
    inner = grid.samples
    total = value_of(grids[g], i, x[g, i]) + value_of(grid, i, 0.5) * inner.offset
    total += last_scale(grids) * float(grids.shape[0] + grid.slopes.shape[1])
    grids[g].sums[i] = total * grid.scale
    y[g, i] = total - grids[g].slopes[i, 0] * inner.values[i]
