"""Smoothed-particle hydrodynamics: density by a poly6 kernel over neighbour lists, then pressure."""

import numpy as np
import warp as wp

PI = 3.14159265


@wp.func
def poly6(distance_squared: float, h: float) -> float:
    h2 = h * h
    if distance_squared >= h2:
        return 0.0
    x = h2 - distance_squared
    h9 = h2 * h2 * h2 * h2 * h
    return 315.0 / (64.0 * PI * h9) * x * x * x


# domain: 0 <= neighbor_count <= neighbors.shape[1]
# domain: 0 <= neighbors < len(positions)
@wp.kernel
def density(
    positions: wp.array(dtype=wp.vec3),
    neighbor_count: wp.array(dtype=int),
    neighbors: wp.array2d(dtype=int),
    mass: float,
    h: float,
    rho: wp.array(dtype=float),
):
    i = wp.tid()
    xi = positions[i]
    total = mass * poly6(0.0, h)
    for k in range(neighbor_count[i]):
        j = neighbors[i, k]
        if j == i:
            continue
        total += mass * poly6(wp.length_sq(positions[j] - xi), h)
    rho[i] = total


@wp.kernel
def pressure(rho: wp.array(dtype=float), rest_density: float, stiffness: float, p: wp.array(dtype=float)):
    i = wp.tid()
    p[i] = wp.max(stiffness * (rho[i] / rest_density - 1.0), 0.0)


if __name__ == "__main__":
    h, side = 0.12, 6
    grid = np.stack(np.meshgrid(*[np.arange(side) * 0.05] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    distances = np.linalg.norm(grid[:, None] - grid[None], axis=-1)
    lists = [np.flatnonzero(row < h) for row in distances]
    table = np.zeros((len(grid), max(len(entry) for entry in lists)), dtype=np.int32)
    for row, entry in enumerate(lists):
        table[row, : len(entry)] = entry
    positions = wp.array(grid, dtype=wp.vec3)
    neighbor_count = wp.array([len(entry) for entry in lists], dtype=int)
    rho, p = wp.zeros(len(grid), dtype=float), wp.zeros(len(grid), dtype=float)
    inputs = [positions, neighbor_count, wp.array(table, dtype=int), 0.125, h, rho]
    wp.launch(density, dim=len(grid), inputs=inputs)
    wp.launch(pressure, dim=len(grid), inputs=[rho, 500.0, 2.0, p])
    print("density", rho.numpy().min(), "to", rho.numpy().max(), "highest pressure", p.numpy().max())
