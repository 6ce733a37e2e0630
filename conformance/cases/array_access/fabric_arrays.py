# Fabric arrays: reads, writes, elements with components, and rows.
import warp as wp


@wp.func
def doubled(values: wp.fabricarray(dtype=float), i: int):
    return values[i] * 2.0


@wp.kernel
def fabric_arrays(
    x: wp.fabricarray(dtype=float),
    velocity: wp.fabricarray(dtype=wp.vec3),
    chosen: wp.indexedfabricarray(dtype=float),
    rows: wp.fabricarray(dtype=float, ndim=2),
    out: wp.fabricarray(dtype=float),
):
    i = wp.tid()
    row = rows[i]
    sum = float(0.0)
    for j in range(row.shape[0]):
        sum += row[j] * rows[i, 0]
    out[i] = sum + doubled(x, i) * wp.length(velocity[i]) + chosen[i] * x[0]
