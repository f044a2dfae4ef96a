"""Whether to colour: --color, then NO_COLOR, then FORCE_COLOR, then whether it is a terminal."""

from __future__ import annotations

import os
from typing import TextIO


def wanted(flag: str, stream: TextIO) -> bool:
    """``flag`` is ``auto``, ``always`` or ``never``. Empty variables count as not set."""
    if flag != "auto":
        return flag == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"
