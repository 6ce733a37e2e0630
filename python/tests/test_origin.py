"""Where exported kernels come from: packages, licenses and attribution."""

import importlib
import sys

import pytest
from assay import _origin
from assay._origin import origin_of, path_in_package


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Give a function that makes an importable package, with the metadata of an installed distribution if wanted."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(package, files, metadata=None):
        for name, text in ({"__init__.py": ""} | files).items():
            file = tmp_path / package / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        if metadata is not None:
            info = tmp_path / f"{package}_kernels-2.5.dist-info"
            info.mkdir()
            (info / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {package}-kernels\nVersion: 2.5\n{metadata}")
            (info / "top_level.txt").write_text(f"{package}\n")
        importlib.invalidate_caches()
        _origin._names_by_module.cache_clear()
        importlib.import_module(package)
        return tmp_path / package

    yield make
    for name in [name for name in sys.modules if name.startswith("origin_")]:
        del sys.modules[name]


def origin(folder, name="waves.py", others=()):
    return origin_of(str(folder / name), f"{folder.name}.waves", [str(folder / other) for other in others])


def test_metadata_of_the_distribution_names_license_author_and_address(install):
    folder = install(
        "origin_a",
        {"waves.py": "import warp as wp\n"},
        "Author-email: Ada Lovelace <ada@example.org>\nLicense-Expression: BSD-3-Clause\n"
        "Project-URL: Documentation, https://example.org/docs\nProject-URL: Repository, https://example.org/waves\n",
    )
    found = origin(folder)
    assert (found.package, found.version, found.license) == ("origin_a-kernels", "2.5", "BSD-3-Clause")
    assert found.file == "origin_a/waves.py"
    assert found.attribution == "origin_a-kernels 2.5, Ada Lovelace, BSD-3-Clause, https://example.org/waves"


@pytest.mark.parametrize(
    ("metadata", "license"),
    [
        ("License: Apache License, Version 2.0\n", "Apache-2.0"),
        ("License: see LICENSE\nClassifier: License :: OSI Approved :: MIT License\n", "MIT"),
        ("Classifier: License :: OSI Approved :: Apache Software License\n", "Apache-2.0"),
        ("License: house rules\n", "unknown"),
        ("", "unknown"),
    ],
)
def test_licenses_that_are_known_become_spdx_identifiers(install, metadata, license):
    name = f"origin_{abs(hash(metadata))}"
    assert origin(install(name, {"waves.py": ""}, metadata)).license == license


def test_comments_of_a_file_count_more_than_the_metadata(install):
    header = "# SPDX-FileCopyrightText: Copyright (c) 2024 Emmy Noether\n# SPDX-License-Identifier: MIT\n\n"
    folder = install("origin_b", {"waves.py": header}, "Author: Ada Lovelace\nLicense-Expression: BSD-3-Clause\n")
    found = origin(folder)
    assert found.license == "MIT"
    assert found.attribution == "origin_b-kernels 2.5, Copyright (c) 2024 Emmy Noether, MIT"


def test_all_files_that_text_was_copied_from_are_attributed(install):
    mit, isc = ("# SPDX-License-Identifier: MIT\n", "# Copyright 2020 Sofia\n# SPDX-License-Identifier: ISC OR MIT\n")
    folder = install("origin_c", {"waves.py": mit, "math.py": isc, "more.py": mit, "none.py": ""})
    found = origin(folder, others=["math.py", "more.py", "waves.py"])
    assert (found.package, found.version) == ("origin_c", "")
    assert found.license == "(ISC OR MIT) AND MIT"
    assert found.attribution == "origin_c, Copyright 2020 Sofia, ISC OR MIT; origin_c, MIT"
    assert origin(folder, others=["none.py"]).license == "unknown", "one file states no license"


def test_single_file_has_no_package(tmp_path):
    file = tmp_path / "waves.py"
    file.write_text("import warp as wp\n")
    found = origin_of(str(file), "waves", [str(file)])
    assert (found.package, found.file, found.license) == ("", "waves.py", "unknown")
    assert found.attribution == "waves.py, unknown"
    assert path_in_package(str(file)) == "waves.py", "the path of the machine is not part of it"
