# A struct of scalars and a vector by value; its fields are active, but for the integer.
import warp as wp


@wp.struct
class Material:
    stiffness: float
    damping: float
    axis: wp.vec3
    kind: int


@wp.kernel
def struct_by_value(x: wp.array(dtype=wp.vec3), material: Material, out: wp.array(dtype=float)):
    i = wp.tid()
    s = wp.dot(x[i], material.axis) * material.stiffness
    if material.kind > 0:
        s = s - material.damping
    out[i] = s * s + material.axis[0]
