"""``pytest --verify-kernels`` judges every kernel that the tests launch."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

OPTION = "--verify-kernels"
KEY = pytest.StashKey["KernelsOfSession"]()


class KernelsOfSession:
    """The kernels that tests launched, each judged once."""

    def __init__(self, device: str) -> None:
        self.device = device
        self.verdicts: dict[int, list[Any]] = {}
        self.failures: dict[int, str] = {}
        self.launched: list[Any] = []

    def judge(self, kernel: Any) -> str:
        """Judge a kernel once. Returns why it is not correct, or an empty text."""
        from assay import AssayError, CannotExport, verify

        if id(kernel) not in self.verdicts:
            self.launched.append(kernel)  # keeps the id alive
            reason = ""
            try:
                verdicts = verify(kernel, device=self.device)
                wrong = [v for v in verdicts if v.outcome not in ("pass", "inconclusive", "unsupported")]
                reason = "\n".join(map(str, wrong))
            except (CannotExport, AssayError) as error:
                verdicts = [f"{kernel.key}: not judged: {error}"]
            self.verdicts[id(kernel)], self.failures[id(kernel)] = verdicts, reason
        return self.failures[id(kernel)]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("assay", "verification of Warp kernels")
    group.addoption(OPTION, action="store_true", help="judge every Warp kernel that the tests launch, with Assay")
    group.addoption("--verify-device", default="cpu", choices=["cpu", "ptx", "cuda"], help="where Assay judges kernels")


def pytest_configure(config: pytest.Config) -> None:
    """Prepare the list of kernels if the option was given."""
    if config.getoption(OPTION):
        config.stash[KEY] = KernelsOfSession(config.getoption("--verify-device"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Judge the kernels that a test launched, after it has passed."""
    kernels = item.config.stash.get(KEY, None)
    if kernels is None:
        return (yield)
    import warp as wp

    launched: list[Any] = []
    launch = wp.launch

    def launch_and_note(*arguments: Any, **named: Any) -> Any:
        result = launch(*arguments, **named)
        launched.extend(instances_of(named["kernel"] if "kernel" in named else arguments[0]))
        return result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wp, "launch", launch_and_note)
        result = yield
    reasons = [reason for kernel in launched if (reason := kernels.judge(kernel))]
    if reasons:
        pytest.fail("\n".join(dict.fromkeys(reasons)), pytrace=False)
    return result


def instances_of(kernel: Any) -> list[Any]:
    """The kernel, or the instances of a generic kernel."""
    return list(kernel.overloads.values()) if kernel.is_generic else [kernel]


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print one line for each pass of each kernel."""
    kernels = config.stash.get(KEY, None)
    if kernels is None:
        return
    terminalreporter.section("kernels")
    for verdicts in kernels.verdicts.values():
        for verdict in verdicts:
            terminalreporter.write_line(str(verdict))
