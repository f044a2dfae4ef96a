"""The kernels of corpus/cases/ and what each of their lines says must be found there.

``//~ PTX301 PTX104`` at the end of a line: these codes at this line, one for each mention.
``//~^ PTX100``: at the line above; one more ``^`` for each line further up.
``// check: driver=535`` on the first line: options of ``check_text`` for this case.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "corpus" / "cases"
BAD = sorted(FOLDER.glob("*.bad.ptx"))
GOOD = sorted(FOLDER.glob("*.good.ptx"))

_EXPECTATION = re.compile(r"//~(\^*)((?:\s+[A-Z]{3}\d{3})+)\s*$")


def expected(path: Path) -> Counter[tuple[int, str]]:
    """How many findings of each code a case wants at each line. Raises ValueError for a slip."""
    found: Counter[tuple[int, str]] = Counter()
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if "//~" not in line:
            continue
        match = _EXPECTATION.search(line)
        if match is None:
            raise ValueError(f"{path.name}:{number}: not an expectation: {line.strip()}")
        found.update((number - len(match[1]), code) for code in match[2].split())
    return found


def options(path: Path) -> dict[str, str]:
    """The options that a case is checked with."""
    first = path.read_text(encoding="utf-8").partition("\n")[0]
    words = first.removeprefix("// check:").split() if first.startswith("// check:") else []
    return dict(word.split("=", 1) for word in words)


def codes(path: Path) -> set[str]:
    """The codes that a case wants."""
    return {code for _, code in expected(path)}
