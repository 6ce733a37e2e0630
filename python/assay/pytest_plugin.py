"""``pytest --verify-kernels`` judges every kernel that the tests launch, on the arguments of the tests."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

OPTION = "--verify-kernels"
MARKER = "unverified_kernels"
KEY = pytest.StashKey["KernelsOfSession"]()


class KernelsOfSession:
    """The kernels that tests launched, each judged once for each combination of launch extents and argument shapes."""

    def __init__(self, device: str, folder: str | None) -> None:
        self.device = device
        self.folder = folder
        self.launches: list[Any] = []
        self.results: dict[int, dict[Any, Any]] = {}

    def judge(self, launches: list[Any]) -> list[Any]:
        """Judge the launches of a test. Returns the results of its kernels."""
        from assay._judge import judge

        new: dict[Any, Any] = {}
        for launch in launches:
            if launch.shapes not in self.results.get(id(launch.kernel), {}):
                new.setdefault((id(launch.kernel), launch.shapes), launch)
        self.launches += new.values()  # keeps the kernels alive, so that ids stay unique
        if new:
            by_kernel = {id(launch.kernel): launch.kernel for launch in new.values()}
            report = judge(new.values(), device=self.device)
            for kernel, result in zip(by_kernel, report, strict=True):
                shapes = [launch.shapes for launch in new.values() if id(launch.kernel) == kernel]
                self.results.setdefault(kernel, {}).update(dict.fromkeys(shapes, result))
        found = [self.results[id(launch.kernel)][launch.shapes] for launch in launches]
        return list({id(result): result for result in found}.values())


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("assay", "verification of Warp kernels")
    group.addoption(OPTION, action="store_true", help="judge every Warp kernel that the tests launch, with Assay")
    group.addoption("--verify-device", default="cpu", choices=["cpu", "ptx", "cuda"], help="where Assay judges kernels")
    group.addoption(
        "--verify-output",
        metavar="DIR",
        help="folder for Assay's reports on all kernels of the session (HTML, JUnit, SARIF)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Prepare the list of kernels if the option was given."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(*names, reason=''): kernels that Assay is expected not to verify with {OPTION}; "
        "the test fails if it verifies one of them",
    )
    if config.getoption(OPTION):
        config.stash[KEY] = KernelsOfSession(config.getoption("--verify-device"), config.getoption("--verify-output"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Judge the kernels that a test launched, after it has passed."""
    kernels = item.config.stash.get(KEY, None)
    if kernels is None:
        return (yield)
    from assay import AssayError
    from assay._capture import Capture

    with Capture() as capture:
        result = yield
    try:
        results = kernels.judge(capture.launches)
    except AssayError as error:
        pytest.fail(f"the kernels of the test could not be judged: {error}", pytrace=False)
    expected = {name for marker in item.iter_markers(MARKER) for name in marker.args}
    wrong = [str(r) for r in results if r.is_wrong and r.kernel not in expected]
    wrong += [
        f"{r.kernel} is verified; remove it from the marker {MARKER}"
        for r in results
        if r.kernel in expected and r.is_verified
    ]
    if wrong:
        pytest.fail("\n".join(wrong), pytrace=False)
    return result


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print one line for each kernel, and write the reports."""
    kernels = config.stash.get(KEY, None)
    if kernels is None:
        return
    terminalreporter.section("kernels")
    for results in kernels.results.values():
        for result in {id(result): result for result in results.values()}.values():
            terminalreporter.write_line(result.summary())
    if kernels.folder and kernels.launches:
        from assay._judge import judge

        judge(kernels.launches, device=kernels.device, folder=kernels.folder)
        terminalreporter.write_line(f"reports: {Path(kernels.folder) / 'reports'}")
