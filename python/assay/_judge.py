"""Judges kernels on the arguments of recorded launches."""

from __future__ import annotations

import html
import json
import re
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay import _launches, _program
from assay._errors import AssayError, CannotExport
from assay._export import export
from assay._verify import NOT_DECIDED, Verdict, _verdict


@dataclass(frozen=True)
class KernelResult:
    """What was found about one kernel.

    Attributes
    ----------
    kernel
        Name of the kernel.
    launched_at
        File and line of its first recorded launch.
    launches
        Number of launches on whose arguments it was judged; 0 if it was judged on generated inputs.
    verdicts
        One for each pass; empty if the kernel was not judged.
    note
        Why the kernel was not judged, or why it was judged on generated inputs; often empty.
    """

    kernel: str
    launched_at: str
    launches: int
    verdicts: tuple[Verdict, ...]
    note: str = ""

    @property
    def is_verified(self) -> bool:
        """Whether every pass is verified."""
        return bool(self.verdicts) and all(verdict.is_verified for verdict in self.verdicts)

    @property
    def is_wrong(self) -> bool:
        """Whether a pass failed or has a defect."""
        return any(v.outcome not in ("pass", *NOT_DECIDED) for v in self.verdicts)

    def summary(self) -> str:
        """One line: the outcome of each pass, and the inputs."""
        if not self.verdicts:
            return f"{self.kernel}: not judged ({self.note})"
        outcomes = ", ".join(f"{v.pass_name} {_outcome(v)}" for v in self.verdicts)
        inputs = f"{self.launches} recorded launch{'es' * (self.launches != 1)}" if self.launches else self.note
        return f"{self.kernel}: {outcomes} on {self.verdicts[0].device} ({inputs})"

    def __str__(self) -> str:
        lines = [str(verdict) for verdict in self.verdicts] or [f"{self.kernel}: not judged"]
        if self.note:
            lines[0] += f" ({self.note})"
        return "\n".join(lines)


class Report(Sequence[KernelResult]):
    """The results of all kernels, in the order of their first launches.

    ``str`` gives one line for each pass of each kernel; a notebook shows a table.
    """

    def __init__(self, results: Iterable[KernelResult]) -> None:
        self._results = tuple(results)

    def __getitem__(self, index: Any) -> Any:
        return self._results[index]

    def __len__(self) -> int:
        return len(self._results)

    @property
    def is_verified(self) -> bool:
        """Whether every kernel is verified."""
        return all(result.is_verified for result in self)

    @property
    def wrong(self) -> list[KernelResult]:
        """The kernels that failed or have a defect."""
        return [result for result in self if result.is_wrong]

    def __str__(self) -> str:
        return "\n".join(map(str, self)) if len(self) else "no kernel was launched"

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        titles = ("kernel", "launched at", "inputs", "forward", "backward")
        head = "".join(f'<th style="text-align:left">{title}</th>' for title in titles)
        return f"<table><tr>{head}</tr>{''.join(map(_row, self))}</table>"


def _row(result: KernelResult) -> str:
    outcomes = {v.pass_name: v for v in result.verdicts}
    inputs = f"{result.launches} recorded" if result.launches else ("generated" if result.verdicts else "")
    cells = [_cell(result.kernel), _cell(_short(result.launched_at)), _cell(inputs)]
    cells += [_outcome_cell(outcomes.get(pass_name)) for pass_name in ("forward", "backward")]
    messages = [f"{v.pass_name}: {v.message}" for v in result.verdicts if v.message]
    if result.note:
        messages.append(result.note)
    style = 'colspan="5" style="text-align:left"'
    lines = "".join(f"<tr><td {style}><code>{html.escape(message)}</code></td></tr>" for message in messages)
    return f"<tr>{''.join(cells)}</tr>{lines}"


def _short(place: str) -> str:
    return "/".join(place.split("/")[-2:])


def _cell(text: str) -> str:
    return f'<td style="text-align:left">{html.escape(text)}</td>'


def _outcome_cell(verdict: Verdict | None) -> str:
    if verdict is None:
        return "<td></td>"
    colour = "green" if verdict.is_verified else ("gray" if verdict.outcome in NOT_DECIDED else "red")
    return f'<td style="text-align:left;color:{colour}"><b>{html.escape(_outcome(verdict))}</b></td>'


def _outcome(verdict: Verdict) -> str:
    return verdict.outcome + (f"({verdict.kind})" if verdict.kind else "")


@dataclass
class _Exported:
    """A kernel in the folder of exported files."""

    launches: list[_launches.Launch]
    file: Path | None = None
    name: str = ""
    reason: str = ""
    verdicts: list[Verdict] = field(default_factory=list)


def judge(
    launches: Iterable[_launches.Launch],
    *,
    device: str = "cpu",
    pass_name: str = "both",
    options: Sequence[str] = (),
    folder: str | Path | None = None,
) -> Report:
    """Judge each kernel of the launches, on its recorded arguments if it has any.

    Parameters
    ----------
    launches
        Launches of any number of kernels.
    device
        Where the kernels are judged: ``"cpu"``, ``"ptx"`` or ``"cuda"``.
    pass_name
        ``"forward"``, ``"backward"`` or ``"both"``.
    options
        Further options of ``assay run``.
    folder
        Receives the exported kernels (``kernels``), the recorded launches (``launches``) and the reports
        (``reports``). Folders of these names are replaced.

    Returns
    -------
    Report
        One result for each kernel.

    Raises
    ------
    AssayError
        If the program could not judge the kernels at all.
    """
    by_kernel: dict[int, _Exported] = {}
    for launch in launches:
        by_kernel.setdefault(id(launch.kernel), _Exported([])).launches.append(launch)
    with tempfile.TemporaryDirectory(prefix="assay-") as temporary:
        root = Path(folder or temporary)
        for name in ("kernels", "launches", "reports"):
            shutil.rmtree(root / name, ignore_errors=True)
        _write(list(by_kernel.values()), root)
        if any(exported.file for exported in by_kernel.values()):
            _run(list(by_kernel.values()), root, device, pass_name, options)
    return Report(map(_result, by_kernel.values()))


def _write(kernels: list[_Exported], root: Path) -> None:
    (root / "kernels").mkdir(parents=True)
    (root / "launches").mkdir()
    for number, exported in enumerate(kernels, 1):
        kernel = exported.launches[0].kernel
        try:
            text = export(kernel)
        except CannotExport as error:
            exported.reason = str(error)
            continue
        exported.name = re.findall(r"^@wp\.kernel\ndef (\w+)", text, re.MULTILINE)[-1]
        exported.file = root / "kernels" / f"k{number:03}_{exported.name}.py"
        exported.file.write_text(text)
        for k, launch in enumerate((x for x in exported.launches if x.is_recorded), 1):
            stem = f"{exported.file.stem}-{k:02}"
            _launches.write(launch, root / "launches", stem, exported.name, exported.file.name)


def _run(kernels: list[_Exported], root: Path, device: str, pass_name: str, options: Sequence[str]) -> None:
    output = root / "reports"
    arguments = ["run", str(root / "kernels"), "--device", device, "--pass", pass_name, "--output", str(output)]
    if any((root / "launches").iterdir()):
        arguments += ["--launches", str(root / "launches")]
    result = _program.run([*arguments, *options])
    records = output / "records.jsonl"
    if not records.exists():
        raise AssayError(result.stderr.strip() or result.stdout.strip())
    by_file = {exported.file.name: exported for exported in kernels if exported.file is not None}
    for record in map(json.loads, records.read_text().splitlines()):
        if record["record"] == "case":
            by_file[Path(record["selector"].rsplit(":", 1)[0]).name].verdicts.append(_verdict(record))


def _result(exported: _Exported) -> KernelResult:
    recorded = [launch for launch in exported.launches if launch.is_recorded]
    if not exported.verdicts:
        note = exported.reason or "the program could not parse the exported file"
    elif not recorded:
        note = f"judged on generated inputs: {exported.launches[0].not_recorded}"
    else:
        note = ""
    return KernelResult(
        kernel=_launches.name_of(exported.launches[0].kernel),
        launched_at=exported.launches[0].launched_at,
        launches=len(recorded) if exported.verdicts else 0,
        verdicts=tuple(exported.verdicts),
        note=note,
    )
