"""Runs each specification in Warp, on the CPU, and compares it with its definition in NumPy.

The values are compared with those of the definition in float64, and Warp's gradients with central differences of the
definition. Both are floating-point computations, so they differ by rounding errors. `Comparison` says how much.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy_definitions import DEFINITIONS, Array, Definition

wp = pytest.importorskip("warp")
wp.config.quiet = True

FOLDER = Path(__file__).resolve().parent.parent / "specifications"
SEED = 20261126
UNIT_ROUNDOFF = 2.0**-24  # of float32
FLOATS = (wp.float16, wp.bfloat16, wp.float32)
STEP = 1e-6  # of central differences; their errors, 1e-9 or less, are far below those of float32

# Warp computes incorrect gradients for these specifications, because its reverse pass does not have the values that a
# dynamic loop carries (docs/design/warp_conventions.md). For each, the test confirms the expected gradient with
# differences of the Warp kernel itself, and fails if Warp's gradient starts to agree.
INCORRECT_GRADIENTS_IN_WARP = {
    "cumulative_product": "the gradient of a product needs the product before each iteration",
    "max_pool2d": "the gradient of a maximum needs the maximum before each iteration",
    "row_max": "the gradient of a maximum needs the maximum before each iteration",
}


@dataclass(frozen=True)
class Operand:
    """A parameter of a kernel."""

    name: str
    is_array: bool
    dtype: Any  # in Warp
    is_float: bool

    @property
    def storage_roundoff(self) -> float:
        """The relative error of storing a float32 number in this type."""
        return {wp.float16: 2.0**-11, wp.bfloat16: 2.0**-8}.get(self.dtype, 0.0)


def kernel_of(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"specifications_{name}", FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def operands_of(kernel: Any) -> list[Operand]:
    operands = []
    for argument in kernel.adj.args:
        is_array = isinstance(argument.type, wp.array)
        dtype = argument.type.dtype if is_array else argument.type
        is_float = is_array and dtype in FLOATS
        operands.append(Operand(argument.label, is_array, dtype, is_float))
    return operands


def rounded(values: Array, dtype: Any) -> Array:
    """The values as an array of this type holds them, in float64 or int64."""
    return values_of(warp_array(values, dtype))


def warp_array(values: Array, dtype: Any) -> Any:
    is_float = dtype in FLOATS
    if dtype is wp.bfloat16:  # NumPy has no such type; Warp takes the bits
        bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
        values = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)
    else:
        values = values.astype(wp.dtype_to_numpy(dtype))
    return wp.array(values, dtype=dtype, device="cpu", requires_grad=is_float)


def values_of(array: Any) -> Array:
    """The elements as float64 or int64."""
    values = array.numpy()
    if array.dtype is wp.bfloat16:
        values = (values.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return values.astype(np.float64 if array.dtype in FLOATS else np.int64)


def drawn_inputs(definition: Definition, operands: list[Operand]) -> dict[str, Any]:
    rng = np.random.default_rng(SEED)
    inputs = {}
    for operand in operands:
        draw = definition.inputs.get(operand.name)
        if callable(draw):
            inputs[operand.name] = rounded(np.asarray(draw(rng)), operand.dtype)
        elif draw is not None:
            inputs[operand.name] = draw
    return inputs


class Subject:
    """A specification, its definition and inputs."""

    def __init__(self, name: str) -> None:
        self.kernel = kernel_of(name)
        self.definition = DEFINITIONS[name]
        self.operands = operands_of(self.kernel)
        (self.output,) = [operand for operand in self.operands if operand.name not in self.definition.inputs]
        self.inputs = drawn_inputs(self.definition, self.operands)
        self.expected = np.asarray(self.definition.compute(**self.inputs))
        self.differentiable = [o for o in self.operands if o.is_float and o is not self.output]
        assert self.output.is_array
        assert set(self.inputs) == set(self.definition.inputs), "the parameters have other names in the definition"

    def compute(self, name: str, values: Array) -> Array:
        return np.asarray(self.definition.compute(**{**self.inputs, name: values}), dtype=np.float64)

    def jacobian(self, name: str) -> Array:
        """Central differences of the definition: derivatives of each output element by each element of the input."""
        values = self.inputs[name]
        columns = []
        for index in np.ndindex(values.shape):
            step = np.zeros(values.shape)
            step[index] = STEP
            columns.append((self.compute(name, values + step) - self.compute(name, values - step)) / (2 * STEP))
        jacobian = np.stack([column.ravel() for column in columns], axis=1)
        return np.where(np.abs(jacobian) < 1e-8, 0, jacobian)  # an element that does not matter

    def run(self, inputs: dict[str, Any], cotangent: Array | None = None) -> tuple[Array, dict[str, Array]]:
        """The output of the kernel in Warp, and the gradients of its inputs if there is a cotangent."""
        arguments = {}
        for operand in self.operands:
            if operand is self.output:
                # An element that the kernel does not write remains a NaN, or -1.
                fill = np.full(self.expected.shape, np.nan if operand.is_float else -1)
                arguments[operand.name] = warp_array(fill, operand.dtype)
            elif operand.is_array:
                arguments[operand.name] = warp_array(inputs[operand.name], operand.dtype)
            else:
                arguments[operand.name] = inputs[operand.name]
        launch = self.definition.launch(self.inputs, self.expected)
        out = arguments[self.output.name]
        with wp.Tape() as tape:
            wp.launch(self.kernel, dim=launch, inputs=list(arguments.values()), device="cpu")
        gradients = {}
        if cotangent is not None:
            tape.backward(grads={out: warp_array(cotangent, self.output.dtype)})
            gradients = {o.name: values_of(arguments[o.name].grad) for o in self.differentiable}
        return values_of(out), gradients


class Comparison:
    """The differences that rounding explains, to first order.

    A result that depends on n inputs takes about 2 n operations, and up to 8 others such as a division or, with several
    unit roundoffs, an exponential function. Each changes a value by a relative error of one unit roundoff. The value is
    the result itself, or of the size of 1 (such as 1 + exp(x)), or its relative change has no more effect than the same
    relative change of all inputs, which the Jacobian gives. The tolerance is the sum.
    """

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.jacobians = {operand.name: subject.jacobian(operand.name) for operand in subject.differentiable}

    def forward_tolerance(self) -> Array:
        subject = self.subject
        size = np.abs(subject.expected).ravel()
        inputs = np.zeros(size.shape)
        effect = np.zeros(size.shape)
        for name, jacobian in self.jacobians.items():
            inputs += (jacobian != 0).sum(axis=1)
            effect += np.abs(jacobian) @ np.abs(subject.inputs[name]).ravel()
        tolerance = UNIT_ROUNDOFF * (8 + 2 * inputs) * (1 + size + effect)
        tolerance += subject.output.storage_roundoff * (size + 1e-4)  # 1e-4: subnormal numbers of float16
        return tolerance.reshape(subject.expected.shape)

    def gradient(self, name: str, cotangent: Array) -> Array:
        return (cotangent.ravel() @ self.jacobians[name]).reshape(self.subject.inputs[name].shape)

    def gradient_tolerance(self, operand: Operand, cotangent: Array) -> Array:
        """As for values. The scale is the largest sum of products in elements that influence the same output."""
        jacobian = self.jacobians[operand.name]
        products = np.abs(cotangent).ravel() @ np.abs(jacobian)
        influences = (jacobian != 0).astype(np.float64)
        related = influences.T @ influences > 0
        scale = np.where(related, products, 0).max(axis=1)
        operations = 8 + 2 * sum(self.subject.inputs[o.name].size for o in self.subject.differentiable)
        # Each addition to the gradient is rounded to the type of the array. The terms, of the size of 1, may cancel.
        stores = operand.storage_roundoff * (1 + influences.sum(axis=0))
        tolerance = (UNIT_ROUNDOFF * operations + stores) * (1 + scale)
        return tolerance.reshape(self.subject.inputs[operand.name].shape)


def drawn_cotangent(subject: Subject) -> Array:
    return rounded(np.random.default_rng(SEED + 1).uniform(0.5, 2.0, subject.expected.shape), subject.output.dtype)


def excess(got: Array, expected: Array, tolerance: Array) -> str | None:
    """The element that differs most, in units of the tolerance; None if all are within it."""
    with np.errstate(invalid="ignore"):
        ratio = np.where(np.isnan(got), np.inf, np.abs(got - expected) / tolerance)
    if ratio.size == 0 or ratio.max() <= 1:
        return None
    index = np.unravel_index(ratio.argmax(), ratio.shape)
    place = ", ".join(map(str, index))
    return f"[{place}] is {got[index]}, expected {expected[index]}: {ratio[index]:.3g} times the tolerance"


def test_each_specification_has_a_numpy_definition() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.py")) == sorted(DEFINITIONS)


@pytest.mark.parametrize("name", sorted(DEFINITIONS))
def test_values_match_definition(name: str) -> None:
    subject = Subject(name)
    got, _ = subject.run(subject.inputs)
    if not subject.output.is_float:
        assert np.array_equal(got, subject.expected)
        return
    assert excess(got, subject.expected, Comparison(subject).forward_tolerance()) is None


@pytest.mark.parametrize("name", sorted(DEFINITIONS))
def test_gradients_match_finite_differences(name: str) -> None:
    subject = Subject(name)
    if not subject.output.is_float:
        pytest.skip("the output has no derivatives")
    comparison = Comparison(subject)
    cotangent = drawn_cotangent(subject)
    _, gradients = subject.run(subject.inputs, cotangent)
    differences = []
    for operand in subject.differentiable:
        expected = comparison.gradient(operand.name, cotangent)
        difference = excess(gradients[operand.name], expected, comparison.gradient_tolerance(operand, cotangent))
        if difference is not None:
            differences.append(operand.name + difference)
    if name not in INCORRECT_GRADIENTS_IN_WARP:
        assert not differences
        return
    assert differences, "Warp's gradient agrees: remove the entry in INCORRECT_GRADIENTS_IN_WARP"
    for operand in subject.differentiable:
        confirm_with_differences_of_warp(subject, operand, comparison.gradient(operand.name, cotangent), cotangent)


def confirm_with_differences_of_warp(subject: Subject, operand: Operand, gradient: Array, cotangent: Array) -> None:
    """Compares the gradient with central differences of the Warp kernel, in float32 and thus with two digits only."""
    values = subject.inputs[operand.name]
    for index in np.ndindex(values.shape):
        step = np.zeros(values.shape)
        step[index] = 2.0**-6
        above, _ = subject.run({**subject.inputs, operand.name: values + step})
        below, _ = subject.run({**subject.inputs, operand.name: values - step})
        slope = float(((above - below) * cotangent).sum() / 2.0**-5)
        assert slope == pytest.approx(gradient[index], rel=0.02, abs=0.02), f"{operand.name}{list(index)}"
