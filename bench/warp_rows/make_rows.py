"""Writes rows as pipelines around Warp do: random kernels in Python, and the code that Warp generates from them.

    third_party/warp-venv/bin/python bench/warp_rows/make_rows.py --count 1000 rows.jsonl

Each row has the members ``id``, ``family``, ``kernel_name``, ``python_source``, ``cpp_source``, ``cuda_source`` and
``warp_version``. ``map.json`` names them for ``assay validate --foreign``. The same options write the same rows.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import warp as wp
from warp._src.context import Kernel, ModuleBuilder

ARCHITECTURE = 80
Row = dict[str, Any]


# ------------------------------------------------------------------------------------------------------- expressions


FORMS = (
    *("({a} + {b})", "({a} - {b})", "({a} * {b})", "({a} / (2.5 + {b} * {b}))"),
    *("wp.sin({a})", "wp.cos({a})", "wp.tanh({a})"),
)


def constant(rng: random.Random) -> str:
    """Return a float constant that is unlikely to occur twice."""
    return f"{rng.uniform(0.5, 2.0):.4f}"


def smooth(rng: random.Random, names: list[str], depth: int) -> str:
    """Return a differentiable expression of float variables whose values stay moderate."""
    if depth == 0:
        return rng.choice([*names, *names, constant(rng)])
    a = smooth(rng, names, depth - 1)
    b = smooth(rng, names, rng.randrange(depth))
    return rng.choice(FORMS).format(a=a, b=b)


def terms(rng: random.Random, names: list[str], depth: int = 2) -> str:
    """Return a sum of an expression and a variable times a constant."""
    return f"{smooth(rng, names, depth)} + {constant(rng)} * {rng.choice(names)}"


# ---------------------------------------------------------------------------------------------------------- families


def arithmetic(rng: random.Random, name: str) -> str:
    """Return a kernel with straight-line arithmetic."""
    return f"""
@wp.kernel
def {name}(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    a = x[i]
    b = y[i]
    c = {terms(rng, ["a", "b"])}
    out[i] = {terms(rng, ["a", "b", "c"])}
"""


def functions_of_math(rng: random.Random, name: str) -> str:
    """Return a kernel with functions whose domain is limited by construction."""
    outer = rng.choice(["wp.sqrt(1.0 + {0} * {0})", "wp.log(1.5 + {0} * {0})", "wp.exp(-{0} * {0})", "wp.atan({0})"])
    return f"""
@wp.kernel
def {name}(x: wp.array(dtype=float), scale: float, out: wp.array(dtype=float)):
    i = wp.tid()
    a = x[i] * scale
    b = {terms(rng, ["a"])}
    out[i] = {outer.format("b")} * {constant(rng)}
"""


def branch(rng: random.Random, name: str) -> str:
    """Return a kernel with a branch on an input."""
    return f"""
@wp.kernel
def {name}(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    a = x[i]
    b = y[i]
    if a > b * {constant(rng)}:
        out[i] = {terms(rng, ["a", "b"])}
    else:
        out[i] = {terms(rng, ["a", "b"])}
"""


def static_loop(rng: random.Random, name: str) -> str:
    """Return a kernel with a loop that Warp unrolls."""
    return f"""
@wp.kernel
def {name}(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    a = x[i]
    s = float(0.0)
    for k in range({rng.randint(2, 6)}):
        s = s * {constant(rng)} + {terms(rng, ["a"], 1)} * float(k + 1)
    out[i] = s
"""


def dynamic_loop(rng: random.Random, name: str) -> str:
    """Return a kernel with a loop over a row; half of them carry state that is used non-linearly."""
    update = f"s = s * {constant(rng)} * a + b" if rng.random() < 0.5 else f"s += {terms(rng, ['a', 'b'], 1)}"
    return f"""
@wp.kernel
def {name}(x: wp.array2d(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    b = y[i]
    s = float({constant(rng)})
    for k in range(x.shape[1]):
        a = x[i, k]
        {update}
    out[i] = s
"""


def vectors(rng: random.Random, name: str) -> str:
    """Return a kernel on vectors of three floats."""
    product = rng.choice(["wp.cross(p, q)", "wp.cw_mul(p, q)", "p + q", "q - p"])
    return f"""
@wp.kernel
def {name}(
    x: wp.array(dtype=wp.vec3), y: wp.array(dtype=wp.vec3), out: wp.array(dtype=wp.vec3), s: wp.array(dtype=float)
):
    i = wp.tid()
    p = x[i]
    q = y[i]
    r = {product} * {constant(rng)}
    d = wp.dot(p, r) + {constant(rng)} * q[{rng.randrange(3)}]
    out[i] = r * d + wp.vec3(d, {constant(rng)}, p[{rng.randrange(3)}])
    s[i] = {terms(rng, ["d"])}
"""


def matrices(rng: random.Random, name: str) -> str:
    """Return a kernel on matrices of two rows."""
    form = rng.choice(["m * v", "wp.transpose(m) * v", "m * (m * v)"])
    return f"""
@wp.kernel
def {name}(x: wp.array(dtype=wp.mat22), y: wp.array(dtype=wp.vec2), out: wp.array(dtype=wp.vec2)):
    i = wp.tid()
    m = x[i]
    v = y[i]
    w = {form} + v * {constant(rng)}
    out[i] = w * wp.sin(wp.dot(v, w) * {constant(rng)}) + wp.vec2(m[0, 1], {constant(rng)})
"""


def structs(rng: random.Random, name: str) -> str:
    """Return a kernel whose parameters are fields of a struct."""
    return f"""
@wp.struct
class Material:
    stiffness: float
    damping: float


@wp.kernel
def {name}(x: wp.array(dtype=float), v: wp.array(dtype=float), material: Material, out: wp.array(dtype=float)):
    i = wp.tid()
    a = x[i]
    b = v[i]
    force = material.stiffness * a + material.damping * b * {constant(rng)}
    out[i] = {terms(rng, ["a", "b", "force"])}
"""


def functions(rng: random.Random, name: str) -> str:
    """Return a kernel that calls functions of its own."""
    return f"""
@wp.func
def inner(u: float, w: float):
    return {terms(rng, ["u", "w"])}


@wp.func
def outer(u: float):
    return inner(u, u * {constant(rng)}) + {constant(rng)} * u


@wp.kernel
def {name}(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = outer(x[i]) * {constant(rng)} + inner(y[i], x[i])
"""


def atomics(rng: random.Random, name: str) -> str:
    """Return a kernel that adds to a shared sum and to neighbours."""
    return f"""
@wp.kernel
def {name}(x: wp.array(dtype=float), y: wp.array(dtype=float), total: wp.array(dtype=float)):
    i = wp.tid()
    a = x[i]
    b = y[i]
    wp.atomic_add(total, 0, {terms(rng, ["a", "b"])})
"""


FAMILIES: dict[str, Callable[[random.Random, str], str]] = {
    "arithmetic": arithmetic,
    "math": functions_of_math,
    "branch": branch,
    "static_loop": static_loop,
    "dynamic_loop": dynamic_loop,
    "vector": vectors,
    "matrix": matrices,
    "struct": structs,
    "function": functions,
    "atomic": atomics,
}


# -------------------------------------------------------------------------------------------------------------- code


def kernel_of(source: str, name: str, folder: Path) -> Kernel:
    """Execute a source as a module and return its kernel."""
    path = folder / f"pipeline_{name}.py"
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return getattr(module, name)


def generated(kernel: Kernel, target: str) -> str:
    """Return the code that Warp generates for ``cpu`` or ``cuda``."""
    module = kernel.module
    block = 1 if target == "cpu" else module.options["block_dim"]
    options = module.resolve_options(wp.config, block_dim=block)
    options = options | {"output_arch": None if target == "cpu" else ARCHITECTURE}
    return ModuleBuilder(module, options, target=target).codegen(target)


def row_of(identifier: str, family: str, name: str, source: str, folder: Path) -> Row:
    """Return the row of a source that defines one kernel."""
    kernel = kernel_of(source, name, folder)
    return {
        "id": identifier,
        "family": family,
        "kernel_name": name,
        "python_source": source,
        "cpp_source": generated(kernel, "cpu"),
        "cuda_source": generated(kernel, "cuda"),
        "warp_version": wp.config.version,
    }


def make_rows(count: int, seed: int) -> list[Row]:
    """Return rows of all families in turn."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            family = list(FAMILIES)[number % len(FAMILIES)]
            rng = random.Random(f"{seed}/{number}")
            name = f"{family}_{number:04}"
            source = "import warp as wp\n\n" + FAMILIES[family](rng, name)
            rows.append(row_of(f"{family}-{number:04}", family, name, source, Path(folder)))
    return rows


def write_rows(rows: list[Row], path: Path) -> None:
    """Write one row per line."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def start_warp() -> None:
    """Start Warp without messages on standard output."""
    wp.config.log_level = wp.LOG_ERROR
    wp.init()


def main() -> None:
    """Write the rows that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", type=Path, help="file of JSON lines to write")
    parser.add_argument("--count", type=int, default=1000, help="number of rows [1000]")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random kernels [1]")
    options = parser.parse_args()
    start_warp()
    write_rows(make_rows(options.count, options.seed), options.output)


if __name__ == "__main__":
    main()
