"""Kernels that only a running Python can describe."""

import ast
import enum
import math
from typing import Any

import warp as wp

ROOT = 1.4142135623730951
GRAVITY = wp.vec3(0.0, -9.81, 0.0)


class Mode(enum.IntEnum):
    SLOW = 1
    FAST = 4


@wp.struct
class Particle:
    position: wp.vec3
    mass: float


@wp.func
def energy(p: Particle, height: float):
    return p.mass * 9.81 * height + 0.5 * wp.dot(p.position, p.position)


def make_scale(factor: float, function: wp.Function):
    # Comments of the factory stay.
    # domain: -2 <= x <= 2
    @wp.kernel
    def scale(x: wp.array(dtype=float), out: wp.array(dtype=float)):
        i = wp.tid()
        out[i] = function(x[i]) * factor

    return scale


@wp.func
def square(x: float):
    return x * x


@wp.func
def halve(x: float) -> float:
    # A comment that stays.
    return (
        x
        / 2.0
    )  # fmt: skip


scaled_squares = make_scale(2.5, square)
scaled_halves = make_scale(0.1, halve)


@wp.kernel
def energies(
    particles: wp.array(dtype=Particle),
    height: float,
    out: wp.array(dtype=float),
):
    """Has a docstring."""
    i = wp.tid()
    out[i] = energy(particles[i], height) + GRAVITY[1] * float(Mode.FAST.value) + math.pi


@wp.kernel
def long_annotation(
    x: wp.array(
        dtype=float,
    ),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    out[i] = x[i]


@wp.kernel
def without_prefix(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    v = vec2(x[i], 2.0)  # noqa: F821
    out[i] = dot(v, v)  # noqa: F821


@wp.kernel
def exact(x: wp.array(dtype=wp.float64), out: wp.array(dtype=wp.float64)):
    i = wp.tid()
    out[i] = x[i] * wp.float64(ROOT) + wp.static(wp.float64(ROOT * 2.0))


@wp.kernel
def any_type(x: wp.array(dtype=Any), out: wp.array(dtype=Any)):
    i = wp.tid()
    out[i] = x[i] + x[i]


@wp.kernel
def last_writer(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[0] = x[i]


class Solver:
    @wp.kernel
    def step(x: wp.array(dtype=float), out: wp.array(dtype=float)):
        i = wp.tid()
        square_of = square(x[i])
        out[i] = square_of


def make_shadowing():
    def local_name():
        @wp.func
        def value(x: float):
            return x + 1.0

        return value

    function = local_name()

    @wp.kernel
    def shadowing(x: wp.array(dtype=float), out: wp.array(dtype=float)):
        i = wp.tid()
        value = function(x[i])
        out[i] = value

    return shadowing


shadowing = make_shadowing()


@wp.func_native("for (;;) return x;")
def native(x: float) -> float: ...


@wp.kernel
def calls_native(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = native(x[i])


@wp.func_native("return x * factor + offset;")
def native_with_defaults(x: float, factor: float = 2.0, offset: int = 3) -> float: ...


@wp.kernel(module="unique")
def calls_native_with_defaults(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = native_with_defaults(x[i]) + native_with_defaults(x[i], 3.0)


def print_all(x):
    print(x)


@wp.kernel(module="unique")
def calls_python(x: wp.array(dtype=float)):
    i = wp.tid()
    if x[i] < 0.0:
        print_all(x[i])


def make_powers():
    made = []
    for power in (1.0, 2.0):

        @wp.kernel
        def power_kernel(x: wp.array(dtype=float), out: wp.array(dtype=float)):
            i = wp.tid()
            out[i] = x[i] * wp.static(power)  # noqa: B023

        made.append(power_kernel)
    return made


powers = make_powers()


class TripleConstants(ast.NodeTransformer):
    def visit_Constant(self, node):
        return ast.copy_location(ast.Constant(3.0 * node.value), node) if isinstance(node.value, float) else node


def transformed(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = 1.0 * x[i]


transformed = wp.Kernel(
    transformed,
    module=wp.get_module(__name__),
    code_transformers=[TripleConstants()],
)
