"""A wave on a height field: one leapfrog step of a damped 2-D wave equation with fixed borders."""

import numpy as np
import warp as wp


@wp.func
def laplacian(u: wp.array2d(dtype=float), i: int, j: int, inverse_cell_squared: float) -> float:
    return (u[i + 1, j] + u[i - 1, j] + u[i, j + 1] + u[i, j - 1] - 4.0 * u[i, j]) * inverse_cell_squared


@wp.kernel
def step(
    u_previous: wp.array2d(dtype=float),
    u: wp.array2d(dtype=float),
    u_next: wp.array2d(dtype=float),
    speed: float,
    damping: float,
    inverse_cell: float,
    dt: float,
):
    i, j = wp.tid()
    rows = u.shape[0]
    cols = u.shape[1]
    if i > 0 and j > 0 and i < rows - 1 and j < cols - 1:
        velocity = (u[i, j] - u_previous[i, j]) / dt
        acceleration = speed * speed * laplacian(u, i, j, inverse_cell * inverse_cell) - damping * velocity
        u_next[i, j] = 2.0 * u[i, j] - u_previous[i, j] + acceleration * dt * dt
    else:
        u_next[i, j] = 0.0


@wp.kernel
def displace(u: wp.array2d(dtype=float), center: wp.vec2, radius: float, height: float):
    """Presses a smooth bump into the surface."""
    i, j = wp.tid()
    offset = wp.vec2(float(i), float(j)) - center
    distance = wp.length(offset)
    if distance < radius:
        ratio = distance / radius
        bump = 1.0 - ratio * ratio
        u[i, j] = u[i, j] + height * bump * bump


if __name__ == "__main__":
    shape = (32, 32)
    layers = [wp.zeros(shape, dtype=float) for _ in range(3)]
    for layer in layers[:2]:
        wp.launch(displace, dim=shape, inputs=[layer, wp.vec2(16.0, 16.0), 6.0, 1.0])
    for _ in range(20):
        wp.launch(step, dim=shape, inputs=[*layers, 1.0, 0.1, 1.0, 0.2])
        layers = [layers[1], layers[2], layers[0]]
    print("height at the centre", layers[1].numpy()[16, 16], "energy", float(np.square(layers[1].numpy()).sum()))
