"""The rooms: each reads only from those before it, and the project stands alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# In the order of docs/architecture.md; `resources` and `model` import nothing of ours.
ORDER = [
    "resources",
    "model",
    "isa",
    "inputs",
    "ptx",
    "execute",
    "analysis",
    "rules",
    "engine",
    "report",
    "cli",
]
FORBIDDEN = ["../shared", "/work/", "py" + "pi.org"]
TEXTS = {".py", ".md", ".toml", ".lark", ".cu", ".ptx", ".json", ".tsv", ".yaml", ""}


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted((ROOT / "ptxlint").rglob("*.py")):
        relative = path.relative_to(ROOT / "ptxlint")
        if len(relative.parts) > 1 or relative.stem in ORDER:
            yield relative.parts[0].removesuffix(".py"), path
    for path in sorted((ROOT / "rules").rglob("*.py")):
        yield "rules", path


def imported_rooms(path: Path, room: str) -> Iterator[str]:
    """The rooms that a module imports, at its top or inside."""
    relative = path.relative_to(ROOT / "ptxlint" if room != "rules" else ROOT)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            name = node.module or ""
            if node.level:
                base = relative.parts[: len(relative.parts) - node.level]
                parts = [*base, *name.split(".")]
                if room == "rules":
                    continue
                if parts and parts[0]:
                    yield parts[0]
            elif name.startswith("ptxlint."):
                yield name.split(".")[1]
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("ptxlint."):
                    yield alias.name.split(".")[1]


@pytest.mark.parametrize(
    ("room", "path"), list(modules()), ids=lambda value: str(value).removeprefix(f"{ROOT}/")
)
def test_nothing_flows_back(room: str, path: Path) -> None:
    assert room in ORDER
    allowed = ORDER[: ORDER.index(room) + 1]
    assert [
        name for name in imported_rooms(path, room) if name in ORDER and name not in allowed
    ] == []


def test_the_project_stands_alone() -> None:
    folders = ["ptxlint", "rules", "grammars", "tests", "docs", "bench", "corpus", ".ci"]
    files = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    files += [path for path in ROOT.iterdir() if path.is_file()]
    found = []
    for path in files:
        if path.suffix not in TEXTS or "__pycache__" in path.parts or path == Path(__file__):
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        found += [(str(path), word) for word in FORBIDDEN if word in text]
    assert found == []


def test_modules_keep_their_budget() -> None:
    paths = [*(ROOT / "ptxlint").rglob("*.py"), *(ROOT / "rules").rglob("*.py")]
    sizes = sorted((len(path.read_text().splitlines()), str(path)) for path in paths)
    assert [size for size in sizes if size[0] > 500] == []
    assert sizes[len(sizes) // 2][0] <= 150
