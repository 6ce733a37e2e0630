"""States where the text of a kernel comes from: its package and file, the license, and whom to name."""

from __future__ import annotations

import functools
import importlib.metadata
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

UNKNOWN_LICENSE = "unknown"

# What packages write instead of an SPDX identifier, in lower case, without "the", "license" and punctuation.
_SPDX_BY_NAME = {
    "apache": "Apache-2.0",
    "apache 2": "Apache-2.0",
    "apache 2 0": "Apache-2.0",
    "apache software": "Apache-2.0",
    "apache version 2 0": "Apache-2.0",
    "bsd 2 clause": "BSD-2-Clause",
    "bsd 3 clause": "BSD-3-Clause",
    "isc": "ISC",
    "isc iscl": "ISC",
    "mit": "MIT",
    "mozilla public 2 0 mpl 2 0": "MPL-2.0",
    "mpl 2 0": "MPL-2.0",
    "unlicense": "Unlicense",
}
# Labels of a project's addresses, the best first.
_ADDRESS_LABELS = ("repository", "source", "source code", "github", "homepage", "home")
# A comment with the license is at the top of a file.
_HEADER_CHARACTERS = 4096


@dataclass(frozen=True)
class Origin:
    """Where the text of a kernel comes from.

    Attributes
    ----------
    package
        Name of the distribution, or of the top-level module if no distribution is installed; empty for a single file.
    version
        Version of the distribution; empty if unknown.
    file
        Path of the kernel's file inside the folder that holds the package; the name of a single file.
    license
        SPDX expression for all files that the text was copied from; ``"unknown"`` if one of them states no license.
    attribution
        Packages, holders of the copyright, licenses and addresses, in one line.
    """

    package: str
    version: str
    file: str
    license: str
    attribution: str


@dataclass(frozen=True)
class _Distribution:
    """The parts of a distribution's metadata that name it and its license."""

    name: str
    version: str = ""
    license: str = ""
    author: str = ""
    address: str = ""


def origin_of(file: str, module: str, copied: Iterable[str]) -> Origin:
    """Find where a kernel comes from.

    Parameters
    ----------
    file
        Path of the kernel's file.
    module
        Dotted name of the kernel's module.
    copied
        Paths of all files that the exported text was copied from.

    Returns
    -------
    Origin
        The file's own comments on license and copyright count more than the metadata of its package.
    """
    own = _distribution_of_file(file) or _Distribution(module.partition(".")[0] if "." in module else "")
    licenses: set[str] = set()
    attributions: list[str] = []
    for path in sorted({file, *copied}):
        distribution = _distribution_of_file(path) or own
        stated, holder = _header_of(path)
        license_of_file = stated or distribution.license or UNKNOWN_LICENSE
        licenses.add(license_of_file)
        words = (
            f"{distribution.name} {distribution.version}".strip() or Path(path).name,
            holder or distribution.author,
            license_of_file,
            distribution.address,
        )
        attribution = ", ".join(word for word in words if word)
        if attribution not in attributions:
            attributions.append(attribution)
    return Origin(own.name, own.version, path_in_package(file), _all_of(licenses), "; ".join(attributions))


def path_in_package(path: str) -> str:
    """Return the path below the folder that holds the file's package: ``"newton/_src/math.py"``.

    The path does not depend on the machine. The path of a file outside of any package is its name.
    """
    folder = Path(path).parent
    while (folder / "__init__.py").is_file():
        folder = folder.parent
    inside = Path(path).relative_to(folder)
    # A folder without __init__.py can belong to a package as well.
    for entry in sorted(sys.path, key=len, reverse=True):
        if entry and Path(entry).name in ("site-packages", "dist-packages") and Path(path).is_relative_to(entry):
            inside = Path(path).relative_to(entry)
            break
    return inside.as_posix()


def _all_of(licenses: set[str]) -> str:
    """One expression for text under several licenses."""
    if UNKNOWN_LICENSE in licenses:
        return UNKNOWN_LICENSE
    several = len(licenses) > 1
    return " AND ".join(f"({one})" if several and " " in one else one for one in sorted(licenses))


@functools.cache
def _header_of(path: str) -> tuple[str, str]:
    """The license and the copyright that a file states in comments at its top; each empty if it states none."""
    try:
        with Path(path).open(encoding="utf-8", errors="replace") as stream:
            top = stream.read(_HEADER_CHARACTERS)
    except OSError:
        return "", ""
    stated = re.search(r"^#\s*SPDX-License-Identifier:\s*(\S.*?)\s*$", top, re.MULTILINE)
    holder = re.search(r"^#\s*SPDX-FileCopyrightText:\s*(\S.*?)\s*$", top, re.MULTILINE)
    holder = holder or re.search(r"^#\s*(Copyright\b.*?)\s*$", top, re.MULTILINE)
    return stated[1] if stated else "", holder[1] if holder else ""


@functools.cache
def _distribution_of_file(path: str) -> _Distribution | None:
    """The distribution that a file belongs to, by the top-level module above it."""
    top_level = path_in_package(path).partition("/")[0].removesuffix(".py")
    loaded = getattr(sys.modules.get(top_level), "__file__", None)
    if loaded is None or not (Path(path).is_relative_to(Path(loaded).parent)):
        return None
    names = _names_by_module().get(top_level)
    return _distribution(names[0]) if names else None


@functools.cache
def _names_by_module() -> dict[str, list[str]]:
    return {module: list(names) for module, names in importlib.metadata.packages_distributions().items()}


@functools.cache
def _distribution(name: str) -> _Distribution:
    metadata = importlib.metadata.metadata(name)
    values = {key: metadata.get_all(key) or [] for key in ("Classifier", "Project-URL")}
    author = metadata.get("Author") or metadata.get("Maintainer") or ""
    if not author:  # "Ada Lovelace <ada@example.org>"
        author = re.sub(r"\s*<[^>]*>", "", metadata.get("Author-email") or metadata.get("Maintainer-email") or "")
    return _Distribution(
        name=metadata.get("Name") or name,
        version=metadata.get("Version") or "",
        license=_license_of(metadata.get("License-Expression"), metadata.get("License"), values["Classifier"]),
        author="" if author == "UNKNOWN" else author,
        address=_address_of(metadata.get("Home-page"), values["Project-URL"]),
    )


def _license_of(expression: str | None, text: str | None, classifiers: list[str]) -> str:
    """The SPDX expression that the metadata of a distribution states; empty if it states none that is known."""
    if expression:
        return expression
    names = [text or ""] + [line.rpartition(" :: ")[2] for line in classifiers if line.startswith("License :: ")]
    for name in names:
        words = [word for word in re.findall(r"[a-z0-9]+", name.lower()) if word not in ("the", "license")]
        if spdx := _SPDX_BY_NAME.get(" ".join(words)):
            return spdx
    return ""


def _address_of(home: str | None, labelled: list[str]) -> str:
    by_label = {}
    for line in labelled:
        label, _, address = line.partition(",")
        by_label[label.strip().lower()] = address.strip()
    found = next((by_label[label] for label in _ADDRESS_LABELS if label in by_label), "")
    return found or (home if home and home != "UNKNOWN" else "")
