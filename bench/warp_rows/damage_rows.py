"""Damages rows of make_rows.py in ten ways, and writes what was done to which row.

    third_party/warp-venv/bin/python bench/warp_rows/damage_rows.py rows.jsonl damaged.jsonl --count 200 --key key.json

The key is an object with the cause that ``assay validate --foreign`` must report for the id of each damaged row.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

from make_rows import Row, row_of, start_warp, write_rows

CODE = ("cpp_source", "cuda_source")
OPERATORS = {"mul": "add", "add": "sub", "sub": "add", "div": "mul", "sin": "cos", "cos": "sin", "tanh": "sin"}


class Unsuitable(Exception):
    """The damage cannot be done to this row."""


def body_of(code: str, kernel: str, which: str) -> re.Match[str]:
    """Return the match of the function of a pass, from its name to its closing brace in the first column."""
    found = re.search(rf"\b{kernel}_[0-9a-f]{{8}}_(cpu|cuda)_kernel_{which}\(.*?\n}}\n", code, re.DOTALL)
    if found is None:
        raise Unsuitable
    return found


def replace_in(code: str, match: re.Match[str], old: str, new: str) -> str:
    """Replace the first occurrence of a text in a function."""
    text = match.group()
    if old not in text:
        raise Unsuitable
    return code[: match.start()] + text.replace(old, new, 1) + code[match.end() :]


def statement_to_change(code: str, kernel: str, rng: random.Random) -> tuple[str, str]:
    """Return an assignment of the forward pass, and the same with another operator."""
    pattern = r"var_\d+ = wp::(?:" + "|".join(OPERATORS) + r")\(.*?\);"
    statements = re.findall(pattern, body_of(code, kernel, "forward").group())
    if not statements:
        raise Unsuitable
    old = rng.choice(statements)
    name = re.search(r"wp::(\w+)\(", old).group(1)
    return old, old.replace(f"wp::{name}(", f"wp::{OPERATORS[name]}(", 1)


def change_operator(row: Row, rng: random.Random) -> None:
    """Change one operator in both passes of the C++ and the CUDA C++."""
    old, new = statement_to_change(row["cpp_source"], row["kernel_name"], rng)
    for field in CODE:
        for which in ("forward", "backward"):
            row[field] = replace_in(row[field], body_of(row[field], row["kernel_name"], which), old, new)


def change_forward(row: Row, rng: random.Random) -> None:
    """Change one operator in the forward pass of one text."""
    field = rng.choice(CODE)
    old, new = statement_to_change(row[field], row["kernel_name"], rng)
    row[field] = replace_in(row[field], body_of(row[field], row["kernel_name"], "forward"), old, new)


def change_backward(row: Row, rng: random.Random) -> None:
    """Remove an adjoint statement, or change its function, in one text."""
    field = rng.choice(CODE)
    match = body_of(row[field], row["kernel_name"], "backward")
    statements = re.findall(r"\n *wp::adj_\w+\(.*?\);", match.group())
    if not statements:
        raise Unsuitable
    old = rng.choice(statements)
    new = "" if rng.random() < 0.5 else re.sub(r"adj_\w+\(", "adj_abs(", old, count=1)
    row[field] = replace_in(row[field], match, old, new)


def drop_adjoint(row: Row, rng: random.Random) -> None:
    """Remove the backward function of one text."""
    field = rng.choice(CODE)
    match = body_of(row[field], row["kernel_name"], "backward")
    start = max(row[field].rfind(prefix, 0, match.start()) for prefix in ("template <", 'extern "C" __global__'))
    row[field] = row[field][:start] + row[field][match.end() :]


def truncate(row: Row, rng: random.Random) -> None:
    """Cut one text inside one of the kernel's functions."""
    field = rng.choice(CODE)
    match = body_of(row[field], row["kernel_name"], rng.choice(("forward", "backward")))
    row[field] = row[field][: rng.randint(match.start() + 10, match.end() - 5)]


def age(row: Row, rng: random.Random) -> None:
    """State another version, or declare the CPU kernels as Warp 1.17 does."""
    if rng.random() < 0.5:
        row["warp_version"] = "1.17.0"
        return
    declaration = r"template <bool wp_linear_contiguous>\nstatic void (?=\w+_cpu_kernel_)"
    changed = re.sub(declaration, "void ", row["cpp_source"])
    if changed == row["cpp_source"]:
        raise Unsuitable
    row["cpp_source"] = changed


def break_python(row: Row, rng: random.Random) -> None:
    """Remove a closing parenthesis from the Python source."""
    ends = [at for at, character in enumerate(row["python_source"]) if character == ")"]
    at = rng.choice(ends)
    row["python_source"] = row["python_source"][:at] + row["python_source"][at + 1 :]


def change_options(row: Row, rng: random.Random) -> None:
    """Generate the CUDA C++ for another block size."""
    size = rng.choice((64, 128, 512))
    if rng.random() < 0.5:
        row["cuda_source"] = row["cuda_source"].replace("BLOCK_DIM 256", f"BLOCK_DIM {size}")
    else:
        bounds = f'extern "C" __global__ void __launch_bounds__({size}) '
        row["cuda_source"] = row["cuda_source"].replace('extern "C" __global__ void ', bounds)


DAMAGE: dict[str, Callable[[Row, random.Random], None]] = {
    "code_differs": change_operator,
    "forward_differs": change_forward,
    "backward_differs": change_backward,
    "missing_backward": drop_adjoint,
    "truncated": truncate,
    "other_version": age,
    "python_syntax": break_python,
    "options_differ": change_options,
}
# These need two rows.
SWAPPED = "other_kernel"
COPIED = "duplicate"
CAUSES = [*DAMAGE, SWAPPED, COPIED]


def swap_code(a: Row, b: Row) -> None:
    """Exchange the code of two rows."""
    for field in CODE:
        a[field], b[field] = b[field], a[field]


def renamed_copy(original: Row, row: Row, folder: Path) -> Row:
    """Return a row with the identifier of ``row`` and the renamed kernel of ``original``."""
    name = f"copy_of_{original['kernel_name']}"
    source = original["python_source"].replace(original["kernel_name"], name)
    for variable in ("i", "a", "b", "p", "q"):
        source = re.sub(rf"(?<![\w.]){variable}(?!\w)", f"{variable}_renamed", source)
    return row_of(row["id"], row["family"], name, source, folder)


def damage_rows(rows: list[Row], count: int, seed: int) -> dict[str, str]:
    """Damage rows in place. Returns the cause for the id of each damaged row."""
    rng = random.Random(seed)
    key: dict[str, str] = {}
    order = list(range(len(rows)))
    rng.shuffle(order)
    wanted = {cause: count // len(CAUSES) for cause in CAUSES}
    # Copies of rows that stay as they are: the first tenth is never damaged otherwise.
    untouched = sorted(order)[: max(1, len(rows) // 10)]
    free = [at for at in order if at not in untouched]
    with tempfile.TemporaryDirectory() as folder:
        originals = rng.sample(untouched, min(wanted[COPIED], len(untouched)))
        for original in originals:
            at = free.pop()
            rows[at] = renamed_copy(rows[original], rows[at], Path(folder))
            key[rows[at]["id"]] = COPIED
    for _ in range(wanted[SWAPPED] // 2):
        a, b = free.pop(), free.pop()
        swap_code(rows[a], rows[b])
        key[rows[a]["id"]] = key[rows[b]["id"]] = SWAPPED
    for cause, damage in DAMAGE.items():
        left = wanted[cause]
        for at in list(free):
            if left == 0:
                break
            changed = dict(rows[at])
            try:
                damage(changed, rng)
            except Unsuitable:
                continue
            rows[at] = changed
            key[changed["id"]] = cause
            free.remove(at)
            left -= 1
    return key


def main() -> None:
    """Damage the rows of a file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", type=Path, help="file of make_rows.py")
    parser.add_argument("output", type=Path, help="file of JSON lines to write")
    parser.add_argument("--key", type=Path, required=True, help="file for the causes of the damaged rows")
    parser.add_argument("--count", type=int, default=200, help="number of rows to damage [200]")
    parser.add_argument("--seed", type=int, default=1, help="seed of the damage [1]")
    options = parser.parse_args()
    start_warp()
    rows = [json.loads(line) for line in options.rows.read_text(encoding="utf-8").splitlines()]
    key = damage_rows(rows, options.count, options.seed)
    write_rows(rows, options.output)
    options.key.write_text(json.dumps(key, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
