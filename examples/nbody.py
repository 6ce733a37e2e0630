"""Gravity among n bodies: each thread sums over all others in a loop whose length only the launch knows."""

import numpy as np
import warp as wp

SOFTENING_SQUARED = 1.0e-2


@wp.func
def attraction(at: wp.vec3, towards: wp.vec3, mass: float) -> wp.vec3:
    offset = towards - at
    distance_squared = wp.length_sq(offset) + SOFTENING_SQUARED
    inverse = 1.0 / wp.sqrt(distance_squared)
    return offset * (mass * inverse * inverse * inverse)


@wp.kernel
def accelerate(
    positions: wp.array(dtype=wp.vec3),
    masses: wp.array(dtype=float),
    accelerations: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    here = positions[i]
    total = wp.vec3(0.0, 0.0, 0.0)
    for j in range(positions.shape[0]):
        if j != i:
            total += attraction(here, positions[j], masses[j])
    accelerations[i] = total


@wp.kernel
def potential_energy(
    positions: wp.array(dtype=wp.vec3),
    masses: wp.array(dtype=float),
    energy: wp.array(dtype=float),
):
    i = wp.tid()
    sum_over_pairs = float(0.0)
    for j in range(i + 1, len(masses)):
        distance = wp.sqrt(wp.length_sq(positions[j] - positions[i]) + SOFTENING_SQUARED)
        sum_over_pairs -= masses[i] * masses[j] / distance
    wp.atomic_add(energy, 0, sum_over_pairs)


if __name__ == "__main__":
    count = 64
    rng = np.random.default_rng(7)
    positions = wp.array(rng.normal(size=(count, 3)), dtype=wp.vec3)
    masses = wp.array(rng.uniform(0.5, 1.5, count), dtype=float)
    accelerations = wp.zeros(count, dtype=wp.vec3)
    energy = wp.zeros(1, dtype=float)
    wp.launch(accelerate, dim=count, inputs=[positions, masses, accelerations])
    wp.launch(potential_energy, dim=count, inputs=[positions, masses, energy])
    momentum = (accelerations.numpy() * masses.numpy()[:, None]).sum(axis=0)
    print("energy", energy.numpy()[0], "net force", np.abs(momentum).max())
