# An array of structs is read whole; its fields are a scalar, a vector and an integer.
import warp as wp


@wp.struct
class Body:
    mass: float
    velocity: wp.vec3
    kind: int

# domain: 0 <= bodies <= 3
@wp.kernel
def array_of_structs(bodies: wp.array(dtype=Body), x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    b = bodies[i]
    e = b.mass * wp.length_sq(b.velocity) * 0.5
    if b.kind > 1:
        e = e * x[i]
    out[i] = e + x[i]
