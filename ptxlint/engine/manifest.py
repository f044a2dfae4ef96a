"""``python -m ptxlint.engine.manifest``: writes rules/manifest.json anew from the rules.

The manifest lets a run load only the rules that are selected and have their trigger in the file.
"""

from __future__ import annotations

import json
import os

from .registry import Entry, discover, root


def text(rules: tuple[Entry, ...]) -> str:
    """The manifest of these rules: a JSON array with one rule a line."""
    rows = [json.dumps(_row(entry), ensure_ascii=False) for entry in rules]
    return "[\n" + ",\n".join(rows) + "\n]\n"


def _row(entry: Entry) -> dict[str, object]:
    return {**entry._asdict(), "mnemonics": sorted(entry.mnemonics)}


def main() -> None:
    """Write the manifest and say how many rules it holds."""
    rules = discover()
    path = os.path.join(root(), "manifest.json")
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(text(rules))
    print(f"{path}: {len(rules)} rules")


if __name__ == "__main__":
    main()
