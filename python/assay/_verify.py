"""Judges live kernels."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay import _program
from assay._errors import AssayError, VerificationFailed
from assay._export import export

NOT_DECIDED = ("inconclusive", "unsupported")


@dataclass(frozen=True)
class Verdict:
    """The verdict on one pass of a kernel.

    Attributes
    ----------
    kernel
        Name of the kernel.
    pass_name
        ``"forward"`` or ``"backward"``.
    device
        ``"cpu"``, ``"cuda"`` or ``"ptx"``.
    outcome
        ``"pass"``, ``"fail"``, ``"defect"``, ``"inconclusive"``, ``"unsupported"``, or another outcome of the program.
    kind
        What kind of failure it is, such as ``"race"``; empty for a pass.
    message
        What was found, with the file and line of the kernel's author and the values; empty for a pass.
    values_compared
        Number of values that were compared with their bounds.
    """

    kernel: str
    pass_name: str
    device: str
    outcome: str
    kind: str
    message: str
    values_compared: int

    @property
    def is_verified(self) -> bool:
        """Whether the kernel computes what its source says, within the computed bounds."""
        return self.outcome == "pass"

    def __str__(self) -> str:
        reason = f": {self.message}" if self.message else ""
        kind = f"({self.kind})" if self.kind else ""
        return f"{self.kernel} {self.pass_name} on {self.device}: {self.outcome}{kind}{reason}"


def verify(
    kernel: Any,
    *,
    device: str = "cpu",
    pass_name: str = "both",
    argument_types: dict[str, Any] | None = None,
    options: Sequence[str] = (),
    keep_export: str | Path | None = None,
) -> list[Verdict]:
    """Judge a live Warp kernel, with all values that it captured.

    Parameters
    ----------
    kernel
        A kernel, as ``@wp.kernel`` makes it; an instance of a generic kernel.
    device
        Where the kernel is judged: ``"cpu"``, ``"ptx"`` or ``"cuda"``.
    pass_name
        ``"forward"``, ``"backward"`` or ``"both"``.
    argument_types
        The type of each argument of a generic kernel, by name.
    options
        Further options of ``assay run``, such as ``["--thorough"]``.
    keep_export
        A folder that receives the exported file and the reports.

    Returns
    -------
    list of Verdict
        One for each pass that was judged. A kernel without a differentiable output has no backward pass.

    Raises
    ------
    CannotExport
        If the kernel cannot be written as a standalone file.
    AssayError
        If the program could not judge the kernel at all.
    """
    text = export(kernel, argument_types=argument_types)
    with tempfile.TemporaryDirectory(prefix="assay-") as temporary:
        folder = Path(keep_export or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{kernel.key.split('.')[-1]}.py"
        file.write_text(text)
        output = folder / "reports"
        arguments = ["run", str(file), "--device", device, "--pass", pass_name, "--output", str(output), *options]
        result = _program.run(arguments)
        records = output / "records.jsonl"
        if not records.exists():
            raise AssayError(result.stderr.strip() or result.stdout.strip())
        lines = map(json.loads, records.read_text().splitlines())
        verdicts = [_verdict(record) for record in lines if record["record"] == "case"]
    if not verdicts:
        raise AssayError(result.stderr.strip() or result.stdout.strip())
    return verdicts


def _verdict(record: dict[str, Any]) -> Verdict:
    return Verdict(
        kernel=record["kernel"].split(".")[-1],
        pass_name=record["pass"],
        device=record["device"],
        outcome=record["outcome"],
        kind=record["kind"],
        message=record["message"],
        values_compared=record.get("values_compared", 0),
    )


def assert_verified(
    kernel: Any,
    *,
    dim: Any = None,
    inputs: Sequence[Any] | None = None,
    outputs: Sequence[Any] = (),
    allow_undecided: bool = False,
    **how: Any,
) -> list[Verdict]:
    """Raise unless each pass of the kernel is verified.

    Parameters
    ----------
    kernel
        A kernel, as for :func:`verify`.
    dim, inputs, outputs
        As for ``wp.launch``: the kernel is judged on these arguments and on perturbed copies, instead of generated
        inputs. They are not modified.
    allow_undecided
        Accept passes that Assay does not support or could not decide.
    **how
        Further arguments of :func:`verify`; with `dim`, only `device`, `pass_name` and `options`.

    Returns
    -------
    list of Verdict
        The verdicts.

    Raises
    ------
    VerificationFailed
        If a pass is not verified. The message gives the reason, the location and the values.
    """
    verdicts = verify(kernel, **how) if dim is None else _verify_launch(kernel, dim, inputs, outputs, how)
    accepted = ("pass", *NOT_DECIDED) if allow_undecided else ("pass",)
    wrong = [verdict for verdict in verdicts if verdict.outcome not in accepted]
    if wrong:
        raise VerificationFailed("\n".join(map(str, wrong)), verdicts)
    return verdicts


def _verify_launch(
    kernel: Any, dim: Any, inputs: Sequence[Any] | None, outputs: Sequence[Any], how: dict[str, Any]
) -> list[Verdict]:
    from assay._judge import judge
    from assay._launches import record

    launch = record(kernel, dim, inputs or (), outputs)
    if not launch.is_recorded:
        raise AssayError(f"{kernel.key}: {launch.not_recorded}")
    (result,) = judge([launch], **how)
    if not result.verdicts:
        raise AssayError(f"{result.kernel}: {result.note}")
    return list(result.verdicts)
