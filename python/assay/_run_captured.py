"""``assay capture -- python PROGRAM ...``: runs a Python program and judges the kernels that it launches."""

from __future__ import annotations

import argparse
import os
import runpy
import sys
import traceback
from collections.abc import Sequence

from assay._capture import Capture

NOTHING_RAN = 4


def main(arguments: Sequence[str]) -> int:
    """Run the program in this process with recorded launches, judge its kernels and write the reports.

    Parameters
    ----------
    arguments
        What follows ``capture`` on the command line.

    Returns
    -------
    int
        0 if every kernel is verified and the program ended normally, 1 otherwise, 4 if it launched no kernel.
    """
    options = _options(arguments)
    with Capture() as capture:
        ended_normally = _run(options.command)
    if not capture.launches:
        print("assay: the program launched no kernel", file=sys.stderr)
        return NOTHING_RAN
    further = ["--quick"] if options.quick else []
    report = capture.save(options.output, device=options.device, options=further)
    for result in report:
        print(result.summary())
        for verdict in result.verdicts:
            if verdict.message:
                print(f"  {verdict.pass_name}: {verdict.message}")
    print(f"{sum(capture.counts.values())} launches of {len(report)} kernels; reports: {options.output}/reports")
    return 0 if report.is_verified and ended_normally else 1


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="assay capture", description="Run a Python program and judge the kernels that it launches."
    )
    parser.add_argument("--output", default="out", metavar="DIR", help="folder for kernels, launches and reports [out]")
    parser.add_argument(
        "--device", default="cpu", choices=["cpu", "ptx", "cuda"], help="where kernels are judged [cpu]"
    )
    parser.add_argument("--quick", action="store_true", help="judge each kernel on few inputs")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- python PROGRAM ...", help="the program")
    options = parser.parse_args(arguments)
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if command and os.path.basename(command[0]).startswith("python"):
        command = command[1:]
    if not command:
        parser.error("the program is missing: assay capture -- python PROGRAM ...")
    options.command = command
    return options


def _run(command: list[str]) -> bool:
    """Run a script or a module as ``__main__``. Returns whether it ended normally."""
    try:
        if command[0] == "-m":
            sys.argv = command[1:]
            sys.path.insert(0, os.getcwd())
            runpy.run_module(command[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv = command
            sys.path.insert(0, os.path.dirname(os.path.abspath(command[0])))
            runpy.run_path(command[0], run_name="__main__")
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return end.code in (None, 0)
    except BaseException:
        traceback.print_exc()
        return False
    return True
