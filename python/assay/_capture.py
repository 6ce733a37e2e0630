"""Records the kernels that a program launches, with their arguments, and judges them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import warp as wp
from warp._src import context

from assay import _launches
from assay._judge import Report, judge

RECORDED = (1, 10, 100)
"""Of the launches of a kernel with the same extents and shapes, those with these numbers are recorded."""


class Capture:
    """Records the launches of all kernels, except those of Warp itself, between ``__enter__`` and ``__exit__``.

    The arguments are copied before the launch. To keep the overhead small, not every launch is recorded: of the
    launches of a kernel with the same extents and shapes, only the first, the tenth and the hundredth, and at most
    `most_launches` of each kernel.

    Parameters
    ----------
    max_bytes
        Arguments that take more bytes are not copied; their kernel is judged on generated inputs.
    most_launches
        Maximum number of launches recorded for each kernel.

    Attributes
    ----------
    launches : list of Launch
        The recorded launches, in order.
    counts : dict
        Number of launches of each kernel, recorded or not, by its name.
    """

    def __init__(self, *, max_bytes: int = _launches.MOST_BYTES, most_launches: int = 3) -> None:
        self.launches: list[_launches.Launch] = []
        self.counts: dict[str, int] = {}
        self._max_bytes = max_bytes
        self._most_launches = most_launches
        self._seen: dict[tuple[Any, ...], int] = {}
        self._recorded: dict[tuple[Any, ...], int] = {}
        self._left_out: dict[int, bool] = {}
        self._alive: list[Any] = []
        self._restore: list[tuple[Any, Callable[..., Any]]] = []
        self._report: Report | None = None

    def __enter__(self) -> Capture:
        for holder in (wp, context):
            self._restore.append((holder, holder.launch))
            holder.launch = self._recording(holder.launch)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for holder, launch in reversed(self._restore):
            holder.launch = launch
        self._restore.clear()

    def _recording(self, launch: Callable[..., Any]) -> Callable[..., Any]:
        positions = {name: position for position, name in enumerate(inspect.signature(launch).parameters)}

        @functools.wraps(launch)
        def launch_and_record(*arguments: Any, **named: Any) -> Any:
            def given(name: str, default: Any = None) -> Any:
                if name in named:
                    return named[name]
                position = positions.get(name, len(arguments))
                return arguments[position] if position < len(arguments) else default

            self._note(given)
            return launch(*arguments, **named)

        return launch_and_record

    def _note(self, given: Callable[..., Any]) -> None:
        """Record a launch if it is due. Called for every launch, so it must be fast."""
        kernel = given("kernel")
        if given("adjoint", False) or self._is_left_out(kernel):
            return
        self.counts[kernel.key] = self.counts.get(kernel.key, 0) + 1
        inputs, outputs, dim = given("inputs") or (), given("outputs") or (), given("dim")
        types: list[Any] = [id(kernel)]
        shapes: list[Any] = [dim if isinstance(dim, int | tuple) else str(dim)]
        for values in (inputs, outputs):
            for value in values:
                if isinstance(value, wp.array):
                    types.append(value.dtype)
                    shapes.append(value.shape)
                else:
                    types.append(type(value))
        instance = tuple(types)
        key = (instance, tuple(shapes))
        count = self._seen[key] = self._seen.get(key, 0) + 1
        if count in RECORDED and self._recorded.get(instance, 0) < self._most_launches:
            self._record(kernel, dim, inputs, outputs, given, instance)

    def _record(
        self, kernel: Any, dim: Any, inputs: Any, outputs: Any, given: Callable[..., Any], instance: tuple[Any, ...]
    ) -> None:
        stream = given("stream")
        try:
            launch = _launches.record(
                kernel,
                dim,
                inputs,
                outputs,
                block_dim=given("block_dim"),
                device=stream.device if stream else wp.get_device(given("device")),
                tape=given("record_tape", True) and _launches.is_taping(),
                launched_at=_launches.caller(),
                max_bytes=self._max_bytes,
            )
        except Exception as error:  # the program must go on; if its launch is invalid, Warp says so
            launch = _launches.Launch(kernel, (), not_recorded=f"{type(error).__name__}: {error}")
        if 0 in launch.dim:
            return
        self._recorded[instance] = self._recorded.get(instance, 0) + 1
        self.launches.append(launch)
        self._report = None

    def _is_left_out(self, kernel: Any) -> bool:
        """Whether this is a kernel of Warp, or no kernel at all."""
        if id(kernel) not in self._left_out:
            self._alive.append(kernel)  # so that its id stays unique
            self._left_out[id(kernel)] = (
                not isinstance(kernel, context.Kernel) or kernel.module.name.split(".")[0] == "warp"
            )
        return self._left_out[id(kernel)]

    def verify(
        self,
        *,
        device: str = "cpu",
        pass_name: str = "both",
        options: Sequence[str] = (),
        folder: str | Path | None = None,
    ) -> Report:
        """Judge each kernel on its recorded arguments.

        Parameters
        ----------
        device
            Where the kernels are judged: ``"cpu"``, ``"ptx"`` or ``"cuda"``.
        pass_name
            ``"forward"``, ``"backward"`` or ``"both"``.
        options
            Further options of ``assay run``.
        folder
            Receives the exported kernels, the recorded launches and the reports.

        Returns
        -------
        Report
            One result for each kernel.
        """
        self._report = judge(self.launches, device=device, pass_name=pass_name, options=options, folder=folder)
        return self._report

    def report(self) -> Report:
        """The report of the last :meth:`verify`; judges the kernels if launches were recorded since."""
        return self._report if self._report is not None else self.verify()

    def save(self, folder: str | Path, **how: Any) -> Report:
        """Judge the kernels, and write the exported kernels, the launches and the reports to a folder.

        Parameters
        ----------
        folder
            Receives the folders ``kernels``, ``launches`` and ``reports``; the last one holds ``report.html`` and the
            other formats.
        **how
            Further arguments of :meth:`verify`.

        Returns
        -------
        Report
            As :meth:`verify`.
        """
        return self.verify(folder=folder, **how)


def capture(**how: Any) -> Capture:
    """Record the launches in a ``with`` block.

    Parameters
    ----------
    **how
        Arguments of :class:`Capture`.

    Returns
    -------
    Capture
        Use it in a ``with`` statement, then call :meth:`Capture.verify`.

    Examples
    --------
    >>> with assay.capture() as c:  # doctest: +SKIP
    ...     train_one_step()
    >>> c.verify()  # doctest: +SKIP
    """
    return Capture(**how)
