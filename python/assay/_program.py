"""Finds and runs the program ``assay``."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from assay._errors import ProgramMissing


def program() -> Path:
    """Find the program.

    The environment variable ``ASSAY_PROGRAM`` comes first, then the scripts of this Python, then ``PATH``.

    Raises
    ------
    ProgramMissing
        If the program is in none of these places.
    """
    named = os.environ.get("ASSAY_PROGRAM")
    if named:
        if not os.access(named, os.X_OK):
            raise ProgramMissing(f"ASSAY_PROGRAM names {named}, which is not a program")
        return Path(named)
    for folder in (sysconfig.get_path("scripts"), None):
        found = shutil.which("assay", path=folder)
        if found:
            return Path(found)
    raise ProgramMissing("the program assay is not installed: run 'pip install .', or set ASSAY_PROGRAM to its path")


def run(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    """Run the program and capture what it prints."""
    return subprocess.run([program(), *arguments], capture_output=True, text=True, check=False)


def main() -> int:
    """Run the program with the arguments of this process, as ``python -m assay``.

    The command ``capture`` runs in this interpreter.
    """
    if sys.argv[1:2] == ["capture"]:
        from assay import _run_captured

        return _run_captured.main(sys.argv[2:])
    return subprocess.call([program(), *sys.argv[1:]])
