"""Writes a dataset of ``assay generate`` as Parquet files.

The columns have the types that ``schema.json`` of the dataset declares, so that all files of a dataset agree even if a
member is null in each row of one file.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ._croissant import croissant
from ._errors import AssayError

# Rows held in memory at once; they form one row group of a file.
ROW_GROUP = 1000
SUFFIX = ".jsonl.gz"
# The last sentence of a card, which is true of JSON lines only.
CHECKED_BY_PROGRAM = "`assay validate .` checks everything."


def to_parquet(dataset: str | Path, output: str | Path) -> int:
    """Write the rows of a dataset as Parquet files, with its card, its schema, Croissant metadata and checksums.

    Parameters
    ----------
    dataset
        Folder that ``assay generate`` wrote, with gzip compression.
    output
        Folder for the files. It must not exist, or be empty.

    Returns
    -------
    int
        The number of rows.

    Raises
    ------
    AssayError
        If pyarrow is not installed, if `dataset` holds no such dataset, or if `output` holds files.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as missing:
        raise AssayError(f"to_parquet needs pyarrow ({missing}); install it with: pip install pyarrow") from missing
    source, target = Path(dataset), Path(output)
    files = sorted((source / "data").glob("*" + SUFFIX))
    if not files or not (source / "schema.json").is_file():
        raise AssayError(
            f"{source}: contains no dataset with data/*{SUFFIX} and schema.json; make one with: assay generate"
        )
    if target.exists() and any(target.iterdir()):
        raise AssayError(f"{target}: is not empty; choose another folder")

    members: set[str] = set()
    licenses: set[str] = set()
    for file in files:
        for row in _rows(file):
            _add_members(row, "", members)
            licenses.add(row["metadata"]["license"])
    row_schema = json.loads((source / "schema.json").read_text(encoding="utf-8"))
    schema = pyarrow.schema(list(_arrow_type(row_schema, "", members, pyarrow)))

    # All files are written to a temporary folder. When it is complete, it is renamed to the output folder.
    partial = target.with_name(target.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    (partial / "data").mkdir(parents=True)
    count = 0
    for file in files:
        path = partial / "data" / (file.name.removesuffix(SUFFIX) + ".parquet")
        with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
            for group in _groups(file):
                writer.write_table(pyarrow.Table.from_pylist(group, schema=schema))
                count += len(group)
    for name in ("schema.json", "stats.json", "journal.jsonl"):
        shutil.copyfile(source / name, partial / name)
    shutil.copytree(source / "quarantine", partial / "quarantine")
    card = (source / "README.md").read_text(encoding="utf-8").replace(SUFFIX, ".parquet")
    card = card.replace(
        CHECKED_BY_PROGRAM, "The rows were converted from JSON lines, which `assay validate` can check."
    )
    (partial / "README.md").write_text(card, encoding="utf-8")
    name = source.resolve().name
    metadata = croissant(name, row_schema, members, next(_rows(files[0])), sorted(licenses), _title(card))
    (partial / "croissant.json").write_text(json.dumps(metadata, indent=2) + "\n", encoding="utf-8")
    _write_checksums(partial)
    if target.exists():
        target.rmdir()
    partial.rename(target)
    return count


def _title(card: str) -> str:
    """Return the title in the header of a dataset card."""
    prefix = "pretty_name: "
    return next((line.removeprefix(prefix) for line in card.splitlines() if line.startswith(prefix)), "")


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                yield json.loads(line)
            except ValueError as wrong:
                raise AssayError(f"{file}:{number}: not valid JSON ({wrong}); run: assay validate") from wrong


def _groups(file: Path) -> Iterator[list[dict[str, Any]]]:
    group: list[dict[str, Any]] = []
    for row in _rows(file):
        group.append(row)
        if len(group) == ROW_GROUP:
            yield group
            group = []
    if group:
        yield group


def _add_members(value: Any, path: str, members: set[str]) -> None:
    """Collect the paths of all members, such as ``/evidence/pass``. An element of a list has the path of the list."""
    if isinstance(value, dict):
        for name, member in value.items():
            members.add(f"{path}/{name}")
            _add_members(member, f"{path}/{name}", members)
    elif isinstance(value, list):
        for element in value:
            _add_members(element, path, members)


def _arrow_type(schema: dict[str, Any], path: str, members: set[str], pyarrow: Any) -> Any:
    """Map a JSON Schema to the type of an Arrow column.

    Members that no row contains are omitted. If no row contains such an object, because all lists of it are empty, no
    member is omitted.
    """
    for choice in schema.get("anyOf", ()):
        if choice.get("type") != "null":
            return _arrow_type(choice, path, members, pyarrow)
    kind = schema.get("type", "string")  # an enumeration consists of texts
    if kind == "object":
        properties = schema["properties"]
        names = [name for name in properties if f"{path}/{name}" in members] or list(properties)
        return pyarrow.struct(
            [(name, _arrow_type(properties[name], f"{path}/{name}", members, pyarrow)) for name in names]
        )
    if kind == "array":
        return pyarrow.list_(_arrow_type(schema["items"], path, members, pyarrow))
    types = {"string": pyarrow.string, "integer": pyarrow.int64, "number": pyarrow.float64, "boolean": pyarrow.bool_}
    return types[kind]()


def _write_checksums(folder: Path) -> None:
    """Write checksums.sha256 for ``sha256sum -c``; as in the source, it does not cover stats.json."""
    lines = []
    for file in sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "stats.json"):
        digest = hashlib.sha256()
        with file.open("rb") as content:
            while piece := content.read(1 << 20):
                digest.update(piece)
        lines.append(f"{digest.hexdigest()}  {file.relative_to(folder)}\n")
    (folder / "checksums.sha256").write_text("".join(lines))
