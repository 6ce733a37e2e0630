"""One explicit step of masses joined by springs: forces gathered with atomics, then integrated."""

import numpy as np
import warp as wp

GRAVITY = wp.constant(wp.vec3(0.0, -9.81, 0.0))


@wp.struct
class Spring:
    a: int
    b: int
    rest: float
    stiffness: float
    damping: float


@wp.func
def spring_force(xa: wp.vec3, xb: wp.vec3, va: wp.vec3, vb: wp.vec3, spring: Spring) -> wp.vec3:
    """The force on the first end."""
    offset = xb - xa
    distance = wp.length(offset)
    direction = offset / distance
    stretch = distance - spring.rest
    closing = wp.dot(vb - va, direction)
    return direction * (spring.stiffness * stretch + spring.damping * closing)


# domain: 0 <= springs.a < len(x)
# domain: 0 <= springs.b < len(x)
@wp.kernel
def eval_springs(
    x: wp.array(dtype=wp.vec3),
    v: wp.array(dtype=wp.vec3),
    springs: wp.array(dtype=Spring),
    f: wp.array(dtype=wp.vec3),
):
    tid = wp.tid()
    spring = springs[tid]
    force = spring_force(x[spring.a], x[spring.b], v[spring.a], v[spring.b], spring)
    wp.atomic_add(f, spring.a, force)
    wp.atomic_sub(f, spring.b, force)


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
    records = np.zeros(count - 1, dtype=Spring.numpy_dtype())
    records["a"], records["b"] = np.arange(count - 1), np.arange(1, count)
    records["rest"], records["stiffness"], records["damping"] = 1.0, 100.0, 1.0
    springs = wp.array(records, dtype=Spring)
    x, v = wp.array(positions, dtype=wp.vec3), wp.zeros(count, dtype=wp.vec3)
    x_new, v_new = wp.zeros_like(x), wp.zeros_like(v)
    inverse_mass = wp.array([0.0] + [1.0] * (count - 1), dtype=float)
    for _ in range(10):
        f = wp.zeros(count, dtype=wp.vec3)
        wp.launch(eval_springs, dim=count - 1, inputs=[x, v, springs, f])
        wp.launch(integrate, dim=count, inputs=[x, v, f, inverse_mass, 0.01, x_new, v_new])
        x, v, x_new, v_new = x_new, v_new, x, v
    print("last mass at", x.numpy()[-1])
