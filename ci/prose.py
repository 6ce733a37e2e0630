"""Extracts what a person reads from the tracked files: sentences of documents, messages, public names, names of tests.

ci/print_samples and ci/check_words use it. Extraction is by regular expressions, so a few items are fragments.
"""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent


class Item(NamedTuple):
    """One piece of text and the line where it begins."""

    file: str
    line: int
    text: str


def tracked(*suffixes: str) -> list[str]:
    """Returns the tracked files with these suffixes, without data that tests compare and generated documents."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    skipped = ("third_party/", "testdata/", "docs/generated/", "examples/rows/")
    return [name for name in listed.splitlines() if name.endswith(suffixes) and not name.startswith(skipped)]


def contents(name: str) -> str:
    """Returns the text of a tracked file."""
    return (ROOT / name).read_text(encoding="utf-8", errors="replace")


def is_test(name: str) -> bool:
    """Returns whether a source file belongs to tests, benchmarks or their helpers."""
    return "_test." in name or "_fuzz." in name or "/testing/" in name or name.startswith("bench/")


SENTENCE_END = re.compile(r"[.?!](?=\s+(?:\[|\*\*)?[A-Z`]|$)")
LIST_MARK = re.compile(r"(?:[-*]|\d+\.)\s")


def split_sentences(paragraph: str) -> Iterator[tuple[int, str]]:
    """Yields the sentences of a paragraph with their offsets. Code spans and text in parentheses are not split."""
    masked = re.sub(r"`[^`]*`", lambda m: "`" + "_" * (len(m[0]) - 2) + "`", paragraph)
    nested = r"\((?:[^()]|\([^()]*\))*\)"
    masked = re.sub(nested, lambda m: "(" + "_" * (len(m[0]) - 2) + ")", masked)
    mark = LIST_MARK.match(masked)
    start = 0
    ends = [match.end() for match in SENTENCE_END.finditer(masked, mark.end() if mark else 0)]
    for end in [*ends, len(paragraph)]:
        if text := " ".join(paragraph[start:end].split()):
            yield start + len(paragraph[start:end]) - len(paragraph[start:end].lstrip()), text
        start = end


def sentences() -> Iterator[Item]:
    """Yields the sentences of the documents, without code, tables and headings. Each item of a list is a paragraph."""
    for name in tracked(".md"):
        paragraphs: list[tuple[int, list[str]]] = []
        fenced = False
        follows_text = False
        for number, line in enumerate(contents(name).splitlines(), 1):
            if line.lstrip().startswith("```"):
                fenced = not fenced
            if fenced or not line.strip() or re.match(r"\s*(```|\||#|<!--|!\[|    )", line):
                follows_text = False
                continue
            if not follows_text or LIST_MARK.match(line.strip()):
                paragraphs.append((number, []))
            paragraphs[-1][1].append(line.strip())
            follows_text = True
        for number, lines in paragraphs:
            paragraph = "\n".join(lines)
            for offset, text in split_sentences(paragraph):
                if len(text.split()) >= 4:
                    yield Item(name, number + paragraph.count("\n", 0, offset), text)


# Production sources without messages: their strings of several words are lists of names.
NAME_TABLES = ("backends/ptx/parse/opcode.cpp", "frontend/warp/parse/warp_names.cpp")

# Strings of code that Assay writes or runs: C++, PTX, and Warp or Python.
CODE = re.compile(
    r"[;{}]\\n|=>|__|</|<<<"  # statements, markup and launches
    r"|;\s*$|\{\{$|\{ return |\w\(&\w"  # the end of a statement, the beginning of a block, an address
    r"|^(?:if|for|while) \(|^#(?:define|undef) |\blong long\b"
    r"|\\n\.param|^@wp\.\w+\\n|^import [\w.]+(?: as \w+)?(?:[;,]|\\n)"
    r"|^(?:\w*\{\}(?: =|:) )?(?:\{\}\.)?(?:array|tile|wp\.[\w.]+)\([^ ].*\)$"  # one call of Warp
    r"|\bscript-src\b"  # the security policy of the report
)
FUNCTION_WORDS = frozenset("a an and are as at by for from has in is no not of on or per that the to with".split())


def is_name_list(text: str) -> bool:
    """Returns whether a text is a list of names, such as "sys/mman.h unistd.h" or "arr i j value".

    Such a list has no punctuation and no function words. It contains a single letter, or at least half of its words
    cannot be English, because they contain a digit or a sign, or have no vowel.
    """
    words = text.split()
    plain = all(re.fullmatch(r"[a-z](?:[\w./]|::?(?=\w))*", word) for word in words)
    if not plain or FUNCTION_WORDS.intersection(words):
        return False
    names = [word for word in words if re.search(r"[\d_:./]|^[^aeiou]+$", word)]
    return any(len(word) == 1 for word in words) or 2 * len(names) >= len(words)


def messages() -> Iterator[Item]:
    """Yields string literals of production code that read as messages: three words or more, no code, no name lists."""
    literal = re.compile(r'(?:"(?:[^"\\\n]|\\.)*"\s*)+')
    for name in tracked(".cpp", ".hpp"):
        if is_test(name) or "/helpers/" in name or name in NAME_TABLES:
            continue
        text = re.sub(r"//[^\n]*", lambda m: " " * len(m[0]), contents(name))
        text = re.sub(r'R"(\w*)\(.*?\)\1"', lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.DOTALL)
        text = re.sub(r"'\\?\"'", lambda m: " " * len(m[0]), text)
        for match in literal.finditer(text):
            if text[: match.start()].rstrip().endswith("#include"):
                continue
            joined = "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', match[0]))
            reads = len(re.findall(r"[A-Za-z]{2,}", joined)) >= 3 and " " in joined.strip()
            if reads and not CODE.search(joined) and not is_name_list(joined):
                yield Item(name, text.count("\n", 0, match.start()) + 1, joined)


def documentation(lines: list[str], number: int) -> str:
    """Returns the documentation of the declaration on a line, counted from 1: the comment above it or after it."""
    after = re.search(r"///< ?(.*)", lines[number - 1])
    if after:
        return after[1]
    above = []
    for line in reversed(lines[: number - 1]):
        if not line.lstrip().startswith("///"):
            break
        above.append(line.strip().removeprefix("///").strip())
    return " ".join(reversed(above))


def identifiers() -> Iterator[Item]:
    """Yields the names of types, functions, enumerators and members that headers declare.

    A name is written as a caller reads it, after the types that enclose it. The line that declares it and its comment
    follow, because a reader sees both: `Comparator::total: std::size_t total = 0; /// number of values compared`.
    """
    declared = re.compile(
        r"^\s*(?:(?:struct|class|enum class)\s+(?P<type>[A-Z]\w+)[^;]*\{"
        r"|(?:[\w:<>,&*\[\] ]+\s[&*]?)(?P<function>[a-z]\w+)\([^;]*"
        r"|(?:[\w:<>,&* ]+\s[&*]?)(?P<member>[a-z]\w+)(?:\s*=[^;]*|\{[^;]*)?;"
        r"|(?P<enumerator>k[A-Z]\w+)\s*(?:=[^,]*)?,?\s*(?://.*)?)$"
    )
    for name in tracked(".hpp"):
        if is_test(name):
            continue
        seen = set()
        lines = contents(name).splitlines()
        # For each open brace: the name of its type, "" for a namespace, None for anything else, such as a function.
        scopes: list[str | None] = []
        for number, line in enumerate(lines, 1):
            code = re.sub(r"\s*//.*", "", line)
            match = declared.match(code)
            found = next((group for group in match.groups() if group), None) if match else None
            is_declaration = None not in scopes and found not in ("true", "false")
            is_declaration &= not line.lstrip().startswith(("return", "using", "#", "namespace"))
            if found and found not in seen and is_declaration:
                seen.add(found)
                comment = documentation(lines, number)
                qualified = "::".join([*filter(None, scopes), found])
                yield Item(name, number, f"{qualified}: {code.strip()}{' /// ' if comment else ''}{comment}")
            opened = re.match(r"\s*(?:struct|class|enum class|namespace)\s+([\w:]+)[^;]*\{", code)
            scope = None if opened is None else "" if code.lstrip().startswith("namespace") else opened[1]
            closed = code.count("}")
            for _ in range(code.count("{")):
                scopes.append(scope)
                scope = None
            del scopes[max(0, len(scopes) - closed) :]


def tests() -> Iterator[Item]:
    """Yields the names of the tests, as Suite.Name."""
    for name in tracked(".cpp"):
        text = contents(name)
        for match in re.finditer(r"^TEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\)", text, re.MULTILINE):
            yield Item(name, text.count("\n", 0, match.start()) + 1, f"{match[1]}.{match[2]}")


KINDS = {"sentences": sentences, "messages": messages, "identifiers": identifiers, "tests": tests}
