# Structs that hold arrays, one inside another, read and written through, and passed to functions.
import warp as wp


@wp.struct
class Springs:
    rest: wp.array(dtype=float)
    stiffness: float


@wp.struct
class World:
    springs: Springs
    position: wp.array(dtype=wp.vec2)
    scale: float
    energy: wp.array(dtype=float)


@wp.func
def energy_of(springs: Springs, length: float, i: int):
    stretch = length - springs.rest[i]
    return 0.5 * springs.stiffness * stretch * stretch


@wp.kernel
def arrays_in_structs(world: World, weight: wp.array(dtype=float)):
    i = wp.tid()
    length = wp.length(world.position[i]) * world.scale
    world.energy[i] = energy_of(world.springs, length, i) * weight[i] + world.springs.rest[i]
