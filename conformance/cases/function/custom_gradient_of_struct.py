# A function of a struct with a custom gradient. Its argument is made of fields with different derivatives.
import warp as wp


@wp.struct
class Spring:
    stiffness: float
    rest: float
    count: int


@wp.func
def energy(spring: Spring, x: float):
    return 0.5 * spring.stiffness * (x - spring.rest) * (x - spring.rest)


@wp.func_grad(energy)
def adj_energy(spring: Spring, x: float, adj_result: float):
    stretch = x - spring.rest
    wp.adjoint[spring].stiffness += 0.5 * stretch * stretch * adj_result
    wp.adjoint[spring].rest -= spring.stiffness * stretch * adj_result
    wp.adjoint[x] += spring.stiffness * stretch * adj_result


@wp.kernel
def custom_gradient_of_struct(springs: wp.array(dtype=Spring), x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    spring = springs[i]
    spring.rest = spring.rest * x[i]
    out[i] = energy(spring, x[i]) * spring.stiffness
