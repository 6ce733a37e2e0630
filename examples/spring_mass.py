"""One explicit step of masses joined by springs: forces gathered with atomics, then integrated."""

import numpy as np
import warp as wp

GRAVITY = wp.constant(wp.vec3(0.0, -9.81, 0.0))


@wp.struct
class Material:
    stiffness: float
    damping: float


@wp.func
def spring_force(xa: wp.vec3, xb: wp.vec3, va: wp.vec3, vb: wp.vec3, rest: float, material: Material) -> wp.vec3:
    """The force on the first end."""
    offset = xb - xa
    direction = wp.normalize(offset)
    stretch = wp.length(offset) - rest
    closing = wp.dot(vb - va, direction)
    return direction * (material.stiffness * stretch + material.damping * closing)


# domain: 0 <= ends < len(x)
@wp.kernel
def eval_springs(
    x: wp.array(dtype=wp.vec3),
    v: wp.array(dtype=wp.vec3),
    ends: wp.array(dtype=int),
    rest: wp.array(dtype=float),
    material: Material,
    f: wp.array(dtype=wp.vec3),
):
    tid = wp.tid()
    a = ends[2 * tid]
    b = ends[2 * tid + 1]
    force = spring_force(x[a], x[b], v[a], v[b], rest[tid], material)
    wp.atomic_add(f, a, force)
    wp.atomic_sub(f, b, force)


@wp.kernel
def integrate(
    x: wp.array(dtype=wp.vec3),
    v: wp.array(dtype=wp.vec3),
    f: wp.array(dtype=wp.vec3),
    inverse_mass: wp.array(dtype=float),
    dt: float,
    x_new: wp.array(dtype=wp.vec3),
    v_new: wp.array(dtype=wp.vec3),
):
    tid = wp.tid()
    w = inverse_mass[tid]
    velocity = v[tid]
    if w > 0.0:
        velocity = velocity + (f[tid] * w + GRAVITY) * dt
    v_new[tid] = velocity
    x_new[tid] = x[tid] + velocity * dt


if __name__ == "__main__":
    count = 8
    positions = np.stack([1.1 * np.arange(count), np.zeros(count), np.zeros(count)], axis=1)
    ends = wp.array(np.stack([np.arange(count - 1), np.arange(1, count)], axis=1).flatten(), dtype=int)
    rest = wp.full(count - 1, 1.0, dtype=float)
    material = Material()
    material.stiffness, material.damping = 100.0, 1.0
    x, v = wp.array(positions, dtype=wp.vec3), wp.zeros(count, dtype=wp.vec3)
    x_new, v_new = wp.zeros_like(x), wp.zeros_like(v)
    inverse_mass = wp.array([0.0] + [1.0] * (count - 1), dtype=float)
    for _ in range(10):
        f = wp.zeros(count, dtype=wp.vec3)
        wp.launch(eval_springs, dim=count - 1, inputs=[x, v, ends, rest, material, f])
        wp.launch(integrate, dim=count, inputs=[x, v, f, inverse_mass, 0.01, x_new, v_new])
        x, v, x_new, v_new = x_new, v_new, x, v
    print("last mass at", x.numpy()[-1])
