"""Constants as the raw bits of the type they are used at."""

from __future__ import annotations

import struct

from ..ptx.ir import Float, Integer
from .formats import FORMATS, convert
from .types import Type


def as_bits(value: Integer | Float, type_: Type) -> int:
    """The constant in ``type_``: floats are rounded to nearest, integers cut to the width."""
    if isinstance(value, Integer):
        if type_.kind == "f" and type_.name in ("f32", "f64"):
            double = struct.unpack("<Q", struct.pack("<d", float(value.value)))[0]
            return convert(double, FORMATS["f64"], FORMATS[type_.name])
        return value.value & type_.mask
    if type_.kind == "f" and type_.packed == 1 and type_.width != value.width:
        return convert(value.bits, FORMATS[f"f{value.width}"], FORMATS[type_.name])
    if value.width == 64 and type_.width == 32:
        return convert(value.bits, FORMATS["f64"], FORMATS["f32"])
    return value.bits & type_.mask
