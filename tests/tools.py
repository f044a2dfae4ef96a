"""NVIDIA's other tools, from the wheels of the extra ``cuda`` or from PATH: what tests ask them."""

from __future__ import annotations

import os
import shutil
from functools import cache

import pytest

from bench import common


@cache
def find(name: str) -> str | None:
    """``cuobjdump``, ``nvdisasm``, ``fatbinary``: beside ptxas where that has it, else on PATH."""
    ptxas = common.ptxas()
    beside = os.path.join(os.path.dirname(ptxas), name) if ptxas else name
    return shutil.which(beside) or shutil.which(name)


def needed(*names: str) -> pytest.MarkDecorator:
    """Skips a test where one of the tools is missing."""
    missing = [name for name in names if find(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"no {', '.join(missing)}")
