"""Judges CUDA code and Triton kernels that were written elsewhere."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay import _program
from assay._errors import AssayError
from assay._verify import Verdict, _verdict


def judge(
    candidate: str | Path,
    against: Any,
    *,
    options: Sequence[str] = (),
    folder: str | Path | None = None,
) -> list[Verdict]:
    """Judge CUDA code or a Triton kernel that a model or a colleague wrote. No GPU is needed.

    Parameters
    ----------
    candidate
        A CUDA source (``.cu``), PTX (``.ptx``), or a Python file (``.py``) that has a Triton kernel or calls
        ``load_inline``. A contract, such as ``sums.assay.json`` for ``sums.cu``, is found next to it.
    against
        The specification: a Warp kernel, or the path of a Python file with one, such as ``"sums.py"`` or
        ``"sums.py:row_sums"``.
    options
        Further options of ``assay judge``, such as ``["--thorough"]``.
    folder
        Receives the reports (``reports``) and the exported specification.

    Returns
    -------
    list of Verdict
        The verdict on the forward pass; several if several kernels of the file are specifications.

    Raises
    ------
    CannotExport
        If `against` is a kernel that cannot be written as a standalone file.
    AssayError
        If the program could not judge the candidate at all, for example because its contract is invalid.
    """
    with tempfile.TemporaryDirectory(prefix="assay-") as temporary:
        root = Path(folder or temporary)
        root.mkdir(parents=True, exist_ok=True)
        output = root / "reports"
        arguments = ["judge", str(candidate), "--against", _specification(against, root), "--output", str(output)]
        result = _program.run([*arguments, *options])
        records = output / "records.jsonl"
        if not records.exists():
            raise AssayError(result.stderr.strip() or result.stdout.strip())
        verdicts = [
            _verdict(record)
            for record in map(json.loads, records.read_text().splitlines())
            if record["record"] == "case"
        ]
    if not verdicts:
        raise AssayError(result.stderr.strip() or result.stdout.strip())
    return verdicts


def _specification(against: Any, root: Path) -> str:
    """The value of ``--against``. Writes a live kernel to a file in `root`."""
    if isinstance(against, str | Path):
        return str(against)
    from assay._export import export

    file = root / f"{against.key.split('.')[-1]}.py"
    file.write_text(export(against))
    return str(file)
