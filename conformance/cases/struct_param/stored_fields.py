# Each thread changes one field of a struct, or one component of a field.
import warp as wp


@wp.struct
class Particle:
    mass: float
    velocity: wp.vec3


# launch: (p.shape[0], 5)
@wp.kernel
def stored_fields(p: wp.array(dtype=Particle), x: wp.array(dtype=float), q: wp.array(dtype=Particle)):
    i, k = wp.tid()
    if k == 0:
        q[i].mass = p[i].mass * x[i]
    elif k < 4:
        q[i].velocity[k - 1] = p[i].velocity[k - 1] * p[i].mass + x[i]
