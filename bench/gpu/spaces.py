"""What a GPU does with addresses of the wrong space or form, and outside their object.

On a machine with a GPU:

    python bench/gpu/spaces.py tests/analysis/memory/spaces_sm90.json

runs each kernel in a process of its own (a fault spoils the context) and writes, by name, ``right``
where it read what the right address holds, ``other`` where it read something else, or the CUresult
that it gave (700: illegal address). ``cases()`` makes the same texts anywhere.
"""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))

# What the words at the start, at 4 and at the end of each object hold.
MARKS = {"shared": 0x51AB, "local": 0x10CA, "const": 0xC057, "global": 0x610B, "param": 0x9A4A}
_CHILDREN = 8
_LONGEST = 20  # seconds that one kernel may take
_SPACES = ("shared", "local", "const", "global")
_OBJECT = {"shared": "tile", "local": "frame", "const": "weights", "global": "table"}
_SIZE = 64  # bytes of each
_MARKED = (0, 1, _SIZE // 4 - 1)  # words
_WORDS = ", ".join(str(MARKS["const"] if i in _MARKED else 0) for i in range(_SIZE // 4))


class Case(NamedTuple):
    """One kernel, launched with one block of 32 threads, that reads one word.

    ``codes`` are the rules that it breaks; ``right`` is what is in the object that it should read.
    """

    name: str
    ptx: str
    codes: tuple[str, ...]
    right: int


def cases() -> dict[str, Case]:
    """All kernels by name."""
    return {case.name: case for case in (*_of_form(), *_of_place())}


def _of_form() -> Iterator[Case]:
    """Each object's address in each form, read as each space and as a generic address."""
    for held in _SPACES:
        symbol = _OBJECT[held]
        forms = {
            "offset": f"mov.u64 %a, {symbol};",
            "generic": f"cvta.{held}.u64 %a, {symbol};",
            "twice": f"cvta.{held}.u64 %a, {symbol}; cvta.{held}.u64 %a, %a;",
            "back": f"cvta.{held}.u64 %a, {symbol}; cvta.to.{held}.u64 %a, %a;",
            "back.twice": f"mov.u64 %a, {symbol}; cvta.to.{held}.u64 %a, %a;",
        }
        for form, setup in forms.items():
            for wanted in (*_SPACES, ""):
                dot = f".{wanted}" if wanted else ""
                read = f"{setup} ld{dot}.u32 %v, [%a+4];"
                yield Case(
                    f"{held}.{form}.{wanted or 'plain'}",
                    _kernel(read),
                    _broken(held, form, wanted),
                    MARKS[held],
                )


def _broken(held: str, form: str, wanted: str) -> tuple[str, ...]:
    """What is wrong by the PTX ISA's "Generic Addressing"."""
    if held == "global":  # an address is the same in all its forms
        return () if wanted in ("global", "") else ("PTX320",)
    fits = "" if form in ("generic", "twice") else held
    twice = ("PTX321",) if form.endswith("twice") else ()
    return twice if wanted == fits else (*twice, "PTX320")


def _of_place() -> Iterator[Case]:
    """Reads at and beyond the ends of objects, near and far, at one place and by lane."""
    for held in (*_SPACES, "param"):
        symbol = _OBJECT.get(held, "range")
        size = 16 if held == "param" else _SIZE
        for offset in (4, size - 4, size, size + 4096, 1 << 20):
            outside = offset + 4 > size
            name = f"{held}.beyond.{offset - size}" if outside else f"{held}.within.{offset}"
            read = f"ld.{held}.u32 %v, [{symbol}+{offset}];"
            yield Case(name, _kernel(read), ("PTX322",) if outside else (), MARKS[held])
        if held == "param":
            continue
        for step in (2, 4):
            by_lane = f"mov.u64 %a, {symbol}; mul.wide.u32 %b, %t, {step}; add.u64 %a, %a, %b;"
            read = f"{by_lane} ld.{held}.u16 %h, [%a]; cvt.u32.u16 %v, %h;"
            outside = 31 * step + 2 > size
            yield Case(
                f"{held}.lanes.{step}", _kernel(read), ("PTX322",) if outside else (), MARKS[held]
            )


def _kernel(read: str) -> str:
    """The text of a kernel that marks its objects, and stores what it reads."""
    marks = " ".join(
        f"mov.u32 %m, {MARKS[space]}; st.{space}.u32 [{_OBJECT[space]}+{4 * word}], %m;"
        for space in ("shared", "local", "global")
        for word in _MARKED
    )
    return f""".version 8.0
.target sm_90
.address_size 64
.global .align 16 .b8 table[{_SIZE}];
.const .align 16 .b32 weights[{_SIZE // 4}] = {{{_WORDS}}};
.visible .entry k(.param .u64 out, .param .align 8 .b8 range[16])
.reqntid 32, 1, 1
{{
  .shared .align 16 .b8 tile[{_SIZE}];
  .local .align 16 .b8 frame[{_SIZE}];
  .reg .b16 %h;
  .reg .b32 %v, %t, %m;
  .reg .b64 %a, %b, %out;
  mov.u32 %t, %tid.x;
  ld.param.u64 %out, [out];
  cvta.to.global.u64 %out, %out;
  {marks}
  bar.sync 0;
  {read}
  mul.wide.u32 %b, %t, 4;
  add.u64 %out, %out, %b;
  st.global.u32 [%out], %v;
  ret;
}}
"""


def launch() -> None:
    """Run the kernel that comes on standard input; its end says how it went."""
    from bench.gpu.children import RESULT
    from bench.gpu.driver import Device, DriverError

    case = Case(*json.load(sys.stdin))
    device = Device()
    try:
        function = device.function(device.load(case.ptx), "k")
        out = device.memory(4096)
        given = struct.pack("<4I", *[MARKS["param"]] * 4)
        device.launch(function, (32, 1, 1), [struct.pack("<Q", out), given])
        (word,) = struct.unpack("<I", device.read(out, 4))
    except DriverError as error:
        words = "" if error.code == 700 else " " + str(error)[:200].replace("\n", " ")
        print(f"{RESULT}{error.code}{words}", flush=True)
        return
    print(f"{RESULT}right" if word == case.right else f"{RESULT}other {word:#x}", flush=True)


if __name__ == "__main__":
    from bench.gpu.children import command_line

    command_line(__file__, __doc__ or "", launch, cases, _LONGEST, _CHILDREN)
