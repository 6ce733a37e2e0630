# Vectors summed whole: the mean velocity of groups, weighted by mass.
import warp as wp


# domain: 0 <= group < 3
@wp.kernel
def vector_sum(
    group: wp.array(dtype=int),
    velocity: wp.array(dtype=wp.vec3),
    mass: wp.array(dtype=float),
    momentum: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    wp.atomic_add(momentum, group[i], velocity[i] * mass[i])
