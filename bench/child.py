"""What must run in a process of its own; prints one JSON object. Started by ``bench.speed``.

``child parse FILE N`` parses FILE N times: CPU seconds of the first parse, which includes the
import of ptxlint and the load of the shipped shapes, and of the fastest; peak memory in bytes;
whether Lark was needed, for a shape that is not among those shipped.
``child repeat FILE N OUT`` writes the module N times into OUT, every copy's names its own.
"""

from __future__ import annotations

import json
import re
import resource
import sys
import time
from pathlib import Path
from typing import Any

_PREAMBLE = re.compile(r"^[ \t]*\.(?:version|target|address_size)\b[^\n]*\n", re.M)
_WORD = re.compile(r"[A-Za-z_$%][\w$]*|\"[^\"\n]*\"", re.A)


def peak() -> int:
    """Peak resident memory of this process so far, in bytes."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
        return int(re.findall(r"^VmHWM:\s*(\d+) kB", status, re.M)[0]) * 1024
    except (OSError, IndexError):
        # Not on Linux, whose ru_maxrss begins at what the parent held when it forked.
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024


def parse(path: str, times: int) -> dict[str, Any]:
    """Parse a file ``times`` times; seconds of each but the fastest and the first are dropped."""
    text = Path(path).read_text(encoding="utf-8")
    seconds = []
    parsed = ""
    for _ in range(times):
        start = time.process_time()
        from ptxlint.ptx import parse as parse_text

        module = parse_text(text)
        seconds.append(time.process_time() - start)
        parsed = module.parsed
        del module
    return {
        "parsed": parsed,
        "bytes": len(text.encode()),
        "cold": seconds[0],
        "best": min(seconds),
        "lark": "lark" in sys.modules,
        "peak": peak(),
    }


def repeat(path: str, times: int, out: str) -> dict[str, Any]:
    """Write the module ``times`` times over as one module."""
    from ptxlint.ptx import parse as parse_text

    text = Path(path).read_text(encoding="utf-8")
    module = parse_text(text)
    names = {f.name for f in module.functions} | {v.name for v in module.variables}
    body = _PREAMBLE.sub("", text)
    parts = ["".join(match.group() for match in _PREAMBLE.finditer(text))]
    for copy in range(times):

        def renamed(match: re.Match[str], copy: int = copy) -> str:
            word = match.group()
            return f"{word}_c{copy}" if word in names else word

        parts.append(_WORD.sub(renamed, body))
    Path(out).write_text("".join(parts), encoding="utf-8")
    return {"names": len(names), "bytes": sum(map(len, parts))}


def main() -> None:
    """Do what the arguments say."""
    mode, path, times, *more = sys.argv[1:]
    result = parse(path, int(times)) if mode == "parse" else repeat(path, int(times), *more)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
