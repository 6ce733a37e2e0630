# Structs nested three deep by value; one field deep inside, next to a vector.
import warp as wp


@wp.struct
class Spring:
    stiffness: float
    rest: float

@wp.struct
class Joint:
    spring: Spring
    axis: wp.vec3

@wp.struct
class Model:
    joint: Joint
    gravity: float

@wp.kernel
def nested_by_value(model: Model, x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    stretch = x[i] - model.joint.spring.rest
    force = model.joint.spring.stiffness * stretch * stretch
    out[i] = force * model.joint.axis[1] + model.gravity * x[i]
