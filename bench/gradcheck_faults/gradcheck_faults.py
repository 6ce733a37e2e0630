"""Compares assay.gradcheck with warp.autograd.gradcheck on kernels with incorrect custom gradients.

    ASSAY_PROGRAM=build/release/bin/assay PYTHONPATH=python third_party/warp-venv/bin/python \
        bench/gradcheck_faults/gradcheck_faults.py

Each random function of three variables gets a custom gradient: its derivative, and in a second kernel the derivative
with one fault. Prints how many of the faults each check rejects, and how many of the correct kernels.
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import assay
import numpy as np
import warp as wp
import warp.autograd
from assay._judge import judge
from assay._launches import record

NAMES = ("x", "y", "z")
FAULTS = ("off by 1 %", "missing term", "wrong index")
ELEMENTS = 8
LEAST_CHANGE = 0.05


@dataclass(frozen=True)
class Expression:
    """An expression and the terms of its derivative with respect to each variable."""

    text: str
    partials: dict[str, tuple[str, ...]]


def variable(name: str) -> Expression:
    """A variable."""
    return Expression(name, {n: ("1.0",) if n == name else () for n in NAMES})


def scaled(expression: Expression, factor: str) -> dict[str, tuple[str, ...]]:
    """The derivative times a factor."""
    return {n: tuple(f"{t} * {factor}" for t in terms) for n, terms in expression.partials.items()}


def joined(a: dict[str, tuple[str, ...]], b: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """The sum of two derivatives."""
    return {n: a[n] + b[n] for n in NAMES}


def grow(rng: random.Random, depth: int) -> Expression:
    """A random expression whose values stay moderate for inputs between -2 and 2."""
    if depth == 0:
        return variable(rng.choice(NAMES))
    a = grow(rng, depth - 1)
    kind = rng.choice(("add", "subtract", "multiply", "sin", "tanh", "square root"))
    if kind == "sin":
        return Expression(f"wp.sin({a.text})", scaled(a, f"wp.cos({a.text})"))
    if kind == "tanh":
        return Expression(f"wp.tanh({a.text})", scaled(a, f"(1.0 - wp.tanh({a.text}) * wp.tanh({a.text}))"))
    if kind == "square root":
        root = f"wp.sqrt(1.0 + ({a.text}) * ({a.text}))"
        return Expression(root, scaled(a, f"({a.text}) / {root}"))
    b = grow(rng, depth - 1)
    if kind == "multiply":
        product = f"({a.text}) * ({b.text})"
        return Expression(product, joined(scaled(a, f"({b.text})"), scaled(b, f"({a.text})")))
    sign = "+" if kind == "add" else "-"
    return Expression(f"({a.text}) {sign} ({b.text})", joined(a.partials, scaled(b, f"({sign}1.0)")))


def values_of(seed: int) -> dict[str, np.ndarray]:
    """The arguments of the kernels with this function."""
    values = np.random.default_rng(seed)
    return {name: values.uniform(-2, 2, ELEMENTS) for name in NAMES}


def size_of(terms: tuple[str, ...], seed: int) -> float:
    """The largest absolute value of a sum of terms on the arguments."""
    functions = SimpleNamespace(sin=np.sin, cos=np.cos, tanh=np.tanh, sqrt=np.sqrt)
    return float(np.max(np.abs(sum(eval(term, {"wp": functions}, values_of(seed)) for term in terms))))


def function(seed: int) -> Expression:
    """A random expression that depends on each variable, such that each fault changes the gradient on the arguments."""
    rng = random.Random(seed)
    while True:
        found = grow(rng, 3)
        x, y = found.partials["x"], found.partials["y"]
        if not all(found.partials.values()) or len(x) < 2 or len(found.text) >= 400:
            continue
        changes = (x, x[:1], (*x, *(f"-1.0 * {term}" for term in y)))
        if min(size_of(terms, seed) for terms in changes) >= LEAST_CHANGE:
            return found


def faulty(partials: dict[str, tuple[str, ...]], fault: str) -> dict[str, tuple[str, ...]]:
    """The derivative with a fault; an empty name keeps it correct."""
    if fault == "off by 1 %":
        return partials | {"x": tuple(f"1.01 * {term}" for term in partials["x"])}
    if fault == "missing term":
        return partials | {"x": partials["x"][1:]}
    if fault == "wrong index":
        return partials | {"x": partials["y"], "y": partials["x"]}
    return partials


def kernel_text(name: str, expression: Expression, fault: str) -> str:
    """A kernel that applies the function to each element."""
    partials = faulty(expression.partials, fault)
    adjoints = "\n".join(f"    wp.adjoint[{n}] += ({' + '.join(partials[n])}) * adj_ret" for n in NAMES)
    return f"""
@wp.func
def f_{name}(x: float, y: float, z: float):
    return {expression.text}


@wp.func_grad(f_{name})
def adj_f_{name}(x: float, y: float, z: float, adj_ret: float):
{adjoints}


@wp.kernel
def {name}(
    x: wp.array(dtype=float), y: wp.array(dtype=float), z: wp.array(dtype=float), out: wp.array(dtype=float)
):
    i = wp.tid()
    out[i] = f_{name}(x[i], y[i], z[i])
"""


@dataclass
class Subject:
    """A kernel with its arguments."""

    fault: str
    kernel: Any
    inputs: list[Any]
    outputs: list[Any]


def subjects(count: int, folder: Path) -> list[Subject]:
    """For each function a correct kernel and one with a fault, with random arguments."""
    chosen = [
        (f"{'faulty' if fault else 'correct'}_{i}", i, fault)
        for i in range(count)
        for fault in ("", FAULTS[i % len(FAULTS)])
    ]
    found = []
    for name, seed, fault in chosen:
        file = folder / f"{name}.py"
        file.write_text("import warp as wp\n\n" + kernel_text(name, function(seed), fault))
        spec = importlib.util.spec_from_file_location(name, file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        inputs = [wp.array(values, dtype=float, requires_grad=True) for values in values_of(seed).values()]
        outputs = [wp.zeros(ELEMENTS, dtype=float, requires_grad=True)]
        found.append(Subject(fault, getattr(module, name), inputs, outputs))
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200, help="number of functions")
    parser.add_argument("--single", type=int, default=10, help="number of kernels to time alone")
    arguments = parser.parse_args()
    wp.config.log_level = wp.LOG_ERROR
    wp.init()
    with tempfile.TemporaryDirectory() as folder:
        judged = subjects(arguments.count, Path(folder))
        for subject in judged:  # compile before the clock runs
            wp.launch(subject.kernel, ELEMENTS, subject.inputs, subject.outputs)
        start = time.perf_counter()
        warp_rejects = Counter(
            subject.fault
            for subject in judged
            if not warp.autograd.gradcheck(
                subject.kernel, ELEMENTS, subject.inputs, subject.outputs, raise_exception=False, show_summary=False
            )
        )
        warp_seconds = time.perf_counter() - start
        start = time.perf_counter()
        report = judge([record(s.kernel, ELEMENTS, s.inputs, s.outputs) for s in judged])
        assay_seconds = time.perf_counter() - start
        assay_rejects = Counter(s.fault for s, r in zip(judged, report, strict=True) if r.is_wrong)
        undecided = [(s.fault, r) for s, r in zip(judged, report, strict=True) if not r.is_wrong and not r.is_verified]
        start = time.perf_counter()
        for subject in judged[: arguments.single]:
            assay.gradcheck(
                subject.kernel, ELEMENTS, subject.inputs, subject.outputs, raise_exception=False, show_summary=False
            )
        single_seconds = (time.perf_counter() - start) / max(arguments.single, 1)
    print("| gradient | kernels | Warp rejects | Assay rejects | Assay undecided |\n|---|---|---|---|---|")
    for fault in ("", *FAULTS):
        print(
            f"| {fault or 'correct'} | {sum(s.fault == fault for s in judged)} | {warp_rejects[fault]} "
            f"| {assay_rejects[fault]} | {sum(f == fault for f, _ in undecided)} |"
        )
    times = [1e3 * warp_seconds / len(judged), 1e3 * assay_seconds / len(judged), 1e3 * single_seconds]
    print(
        f"\nWarp {times[0]:.0f} ms per kernel, without compilation; "
        f"Assay {times[1]:.0f} ms per kernel together, {times[2]:.0f} ms alone, with compilation"
    )
    for fault, result in undecided:
        print(f"undecided ({fault or 'correct'}): {result}")


if __name__ == "__main__":
    main()
