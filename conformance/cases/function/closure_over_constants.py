# A kernel made by a Python function, which closes over a number, a type's size and a function.
import warp as wp

DEGREE = 3


@wp.func
def bump(x: float):
    return x * x / (1.0 + x * x)


def make(degree: int, scale: float, f):
    half = 0.5 * scale

    @wp.func
    def power(x: float):
        p = float(1.0)
        for _j in range(degree):
            p = p * x
        return p

    @wp.kernel
    def made(x: wp.array(dtype=float), out: wp.array(dtype=float)):
        i = wp.tid()
        out[i] = power(x[i]) * half + f(x[i])

    return made


closure_over_constants = make(DEGREE, 1.5, bump)
