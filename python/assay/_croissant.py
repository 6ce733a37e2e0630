"""Describes the Parquet files of a dataset in the Croissant format (version 1.0), which data catalogs read."""

from __future__ import annotations

from typing import Any

_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_TYPES = {"string": "sc:Text", "integer": "sc:Integer", "number": "sc:Float", "boolean": "sc:Boolean"}


def croissant(
    name: str, schema: dict[str, Any], members: set[str], row: dict[str, Any], licenses: list[str], title: str
) -> dict[str, Any]:
    """Describe a dataset whose rows are in ``data/*.parquet``.

    Parameters
    ----------
    name
        Name of the dataset.
    schema
        JSON Schema of a row.
    members
        Paths of the members that the rows have, such as ``/evidence/pass``.
    row
        A row, which states the version of the generator.
    licenses
        The licenses of the rows, as SPDX expressions.
    title
        One line about the content.

    Returns
    -------
    dict
        The content of ``croissant.json``.
    """
    fields = _fields(schema, "rows", "", "$", members)
    metadata = row["metadata"]
    addresses = [one if " " in one else f"https://spdx.org/licenses/{one}" for one in licenses]
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": name,
        "description": title,
        "license": addresses[0] if len(addresses) == 1 else addresses,
        "version": metadata["generator_version"],
        "creator": {"@type": "sc:Organization", "name": metadata["generator"]},
        "distribution": [
            {
                "@type": "cr:FileSet",
                "@id": "data",
                "name": "data",
                "encodingFormat": "application/x-parquet",
                "includes": "data/*.parquet",
            }
        ],
        "recordSet": [{"@type": "cr:RecordSet", "@id": "rows", "name": "rows", "field": fields}],
    }


def _fields(schema: dict[str, Any], identifier: str, column: str, path: str, members: set[str]) -> list[dict[str, Any]]:
    """Describe the members of an object that rows have.

    Lists of objects are left out, because readers of Croissant 1.0 do not read them. They are in the Parquet files.
    """
    prefix = identifier.removeprefix("rows")
    fields = []
    for name, member in schema["properties"].items():
        is_list_of_objects = member.get("type") == "array" and member["items"].get("type") == "object"
        if f"{prefix}/{name}" not in members or is_list_of_objects:
            continue
        inner = f"{path}.{name}" if column else path
        fields.append(_field(member, f"{identifier}/{name}", name, column or name, inner, members))
    return fields


def _field(
    schema: dict[str, Any], identifier: str, name: str, column: str, path: str, members: set[str]
) -> dict[str, Any]:
    """Describe a member: a column, or a part of the column found by a JSON path."""
    field: dict[str, Any] = {"@type": "cr:Field", "@id": identifier, "name": name}
    if "description" in schema:
        field["description"] = schema["description"]
    schema = next((choice for choice in schema.get("anyOf", ()) if choice.get("type") != "null"), schema)
    if schema.get("type") == "array":
        field["repeated"] = True
        path += "[*]"
        schema = schema["items"]
    if schema.get("type") == "object":
        field["subField"] = _fields(schema, identifier, column, path, members)
        return field
    field["dataType"] = _TYPES[schema.get("type", "string")]
    field["source"] = {"fileSet": {"@id": "data"}, "extract": {"column": column}}
    if path not in ("$", "$[*]"):
        field["source"]["transform"] = {"jsonPath": path}
    return field
