"""Results by content: the same bytes under the same options and version are not linted twice.

The cache is only ever a shortcut: whatever goes wrong with it, the file is linted as without.
"""

from __future__ import annotations

import json
import os
import sys
from functools import lru_cache
from hashlib import sha256

from .. import __path__ as packages
from .. import __version__
from ..model import FileReport
from .options import Options
from .serial import report_of, report_value


def folder() -> str:
    """Where results are kept: the platform's place for caches."""
    base = os.environ.get("LOCALAPPDATA") if sys.platform == "win32" else None
    base = base or os.environ.get("XDG_CACHE_HOME")
    return os.path.join(base or os.path.join(os.path.expanduser("~"), ".cache"), "ptxlint")


def key(content: bytes, options: Options) -> str:
    """The name of the result of these bytes."""
    digest = sha256(content)
    digest.update(f"\0{__version__}\0{_stamp()}\0{options.key()}".encode())
    return digest.hexdigest()


@lru_cache(maxsize=1)
def _stamp() -> int:
    """In a checkout, the time of the newest change to the code: versions don't move there."""
    if len(packages) == 1:
        return 0
    newest = 0
    for top in (packages[0], os.path.join(packages[1], "rules")):
        for at, _, files in os.walk(top):
            for name in files:
                if name.endswith((".py", ".json", ".lark")):
                    newest = max(newest, os.stat(os.path.join(at, name)).st_mtime_ns)
    return newest


def load(name: str, path: str, text: str) -> FileReport | None:
    """The remembered report of the text, as one of the file at ``path``; None if there is none."""
    try:
        with open(_file(name), encoding="utf-8") as file:
            value = json.load(file)
        lines = text.replace("\r\n", "\n").split("\n") if value["findings"] else []
        return report_of(value, path, lines)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def store(name: str, report: FileReport) -> None:
    """Remember a report. Written aside and moved into place, so that no reader sees half of it."""
    import tempfile

    try:
        text = json.dumps(report_value(report))
        path = _file(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        handle, aside = tempfile.mkstemp(dir=os.path.dirname(path))
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(aside, path)
    except (OSError, ValueError, TypeError):
        return


def _file(name: str) -> str:
    return os.path.join(folder(), name[:2], f"{name}.json")
