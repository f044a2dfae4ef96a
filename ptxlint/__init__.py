"""ptxlint: a static analyzer for GPU kernels.

The public names are loaded on first use, so that ``import ptxlint`` alone costs nothing.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .analysis.compatibility import Compatibility as Compatibility
    from .engine.api import check_path as check_path
    from .engine.api import check_text as check_text
    from .engine.api import compat as compat
    from .inputs.images import Image as Image
    from .inputs.images import open_inputs as open_inputs
    from .isa.occupancy import Occupancy as Occupancy
    from .isa.occupancy import occupancy as occupancy
    from .model import Confidence as Confidence
    from .model import Finding as Finding
    from .model import Position as Position
    from .model import Rule as Rule
    from .model import Severity as Severity
    from .model import Span as Span
    from .ptx import parse as parse
    from .ptx.ir import Module as Module

__version__ = "0.1.0"

__all__ = [
    "Compatibility",
    "Confidence",
    "Finding",
    "Image",
    "Module",
    "Occupancy",
    "Position",
    "Rule",
    "Severity",
    "Span",
    "__version__",
    "check_path",
    "check_text",
    "compat",
    "occupancy",
    "open_inputs",
    "parse",
]

_HOMES = {
    "Compatibility": "analysis.compatibility",
    "Confidence": "model",
    "Finding": "model",
    "Image": "inputs.images",
    "Module": "ptx.ir",
    "Occupancy": "isa.occupancy",
    "Position": "model",
    "Rule": "model",
    "Severity": "model",
    "Span": "model",
    "check_path": "engine.api",
    "check_text": "engine.api",
    "compat": "engine.api",
    "occupancy": "isa.occupancy",
    "open_inputs": "inputs.images",
    "parse": "ptx",
}

# In a checkout the rules and grammars lie beside this package; an installed one holds them.
_here = os.path.dirname(os.path.abspath(__file__))
if not os.path.isdir(os.path.join(_here, "rules")):
    __path__.append(os.path.dirname(_here))


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
