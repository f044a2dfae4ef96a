"""Which launches a GPU takes: kernels of many registers and sizes, blocks, dynamic shared memory.

    python bench/gpu/launches.py tests/isa/launches_sm90.json

loads each kernel (as PTX: the driver assembles it), asks the driver for its registers, shared and
local bytes, launches it with every block and size, and writes the CUresults. The bodies are never
executed (``n`` is 0), so that a launch that is taken does nothing.
"""

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

LIVE = (4, 20, 40, 56, 80, 110, 150, 190, 235)  # values that are live at once
STATIC = (0, 1024, 40_000)
BOUNDS = (
    ".maxntid 256, 1, 1",
    ".reqntid 128, 1, 1",
    ".reqntid 32, 4, 1",
    ".maxntid 512, 1, 1\n.minnctapersm 2",
)
BLOCKS = ((32, 1, 1), (33, 1, 1), (128, 1, 1), (32, 4, 1), (192, 1, 1), (256, 1, 1), (256, 2, 1),
          (288, 1, 1), (320, 1, 1), (384, 1, 1), (512, 1, 1), (513, 1, 1), (768, 1, 1),
          (1024, 1, 1), (1025, 1, 1), (32, 33, 1))  # fmt: skip
DYNAMIC = (0, 8_192, 49_152, 60_000, 192_448, 231_424, 232_448, 232_449, 240_000)
# cuda.h: CU_FUNC_ATTRIBUTE_…
_ATTRIBUTES = {"max_threads": 0, "shared": 1, "local": 3, "registers": 4}
_MAX_DYNAMIC = 8


def kernels() -> Iterator[tuple[str, str]]:
    """(name, text) of each."""
    for live in LIVE:
        for static in STATIC:
            yield f"live{live}.static{static}", _kernel(live, static, "")
    for live in (40, 110):
        for number, bounds in enumerate(BOUNDS):
            yield f"live{live}.bounds{number}", _kernel(live, 1024, bounds)


def _kernel(live: int, static: int, bounds: str) -> str:
    tile = f".shared .align 16 .b8 tile[{static}];" if static else ""
    use = "st.shared.u32 [tile], %r0;" if static else ""
    loads = "".join(f"ld.global.u32 %v{i}, [%a+{4 * i}];\n" for i in range(live))
    adds = "".join(f"add.u32 %v{i}, %v{i}, %v{(i + 1) % live};\n" for i in range(live))
    stores = "".join(f"st.global.u32 [%a+{4 * i}], %v{i};\n" for i in range(live))
    return f""".version 8.0
.target sm_90
.address_size 64
.extern .shared .align 16 .b8 pool[];
.visible .entry k(.param .u64 p, .param .u32 n)
{bounds}
{{
{tile}
.reg .pred %p;
.reg .b32 %v<{live}>, %r0;
.reg .b64 %a;
ld.param.u64 %a, [p];
ld.param.u32 %r0, [n];
setp.eq.u32 %p, %r0, 0;
@%p bra DONE;
{use}
st.shared.u32 [pool], %r0;
{loads}
bar.sync 0;
{adds}
bar.sync 0;
{stores}
DONE:
ret;
}}
"""


def _launched(device: Any, function: Any, block: tuple[int, int, int], dynamic: int) -> int:
    """The CUresult of one launch, or of asking for so much shared memory."""
    driver = device._driver
    code = int(driver.cuFuncSetAttribute(function, _MAX_DYNAMIC, dynamic))
    if code:
        return code
    pointer, number = ctypes.c_uint64(0), ctypes.c_uint32(0)
    given = (ctypes.c_void_p * 2)(ctypes.addressof(pointer), ctypes.addressof(number))
    code = int(driver.cuLaunchKernel(function, 1, 1, 1, *block, dynamic, None, given, None))
    return code or int(driver.cuCtxSynchronize())


def measure() -> list[dict[str, Any]]:
    """Every kernel: what the driver says of it, and [block, dynamic bytes, CUresult] of each."""
    from bench.gpu.driver import Device

    device, rows = Device(), []
    for name, text in kernels():
        function = device.function(device.load(text), "k")
        row: dict[str, Any] = {"name": name}
        for attribute, number in _ATTRIBUTES.items():
            value = ctypes.c_int()
            device._driver.cuFuncGetAttribute(ctypes.byref(value), number, function)
            row[attribute] = value.value
        row["launches"] = [
            [list(block), dynamic, _launched(device, function, block, dynamic)]
            for block in BLOCKS
            for dynamic in DYNAMIC
        ]
        rows.append(row)
    return rows


def cubins(folder: Path) -> list[dict[str, Any]]:
    """What the driver says of the kernels of cubins, whose names are in ``kernels.json`` there."""
    from bench.gpu.driver import Device

    device, rows = Device(), []
    for name, entries in json.loads((folder / "kernels.json").read_text()).items():
        module = device.load_image((folder / name).read_bytes())
        for entry in entries:
            function = device.function(module, entry)
            row: dict[str, Any] = {"file": name, "kernel": entry}
            for attribute, number in _ATTRIBUTES.items():
                value = ctypes.c_int()
                device._driver.cuFuncGetAttribute(ctypes.byref(value), number, function)
                row[attribute] = value.value
            rows.append(row)
    return rows


def main() -> None:
    """The command line: the file to write, then a folder of cubins."""
    target, folder = Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None
    value: dict[str, Any] = {"source": "cuLaunchKernel, NVIDIA H200, sm_90", "kernels": measure()}
    if folder is not None:
        value["cubins"] = cubins(folder)
    body = ",\n".join(
        f' "{key}": '
        + (
            json.dumps(rows)
            if isinstance(rows, str)
            else "[\n  " + ",\n  ".join(map(json.dumps, rows)) + "\n ]"
        )
        for key, rows in value.items()
    )
    target.write_text("{\n" + body + "\n}\n", encoding="utf-8")
    launches = [code for row in value["kernels"] for _, _, code in row["launches"]]
    print(
        {code: launches.count(code) for code in sorted(set(launches))}, len(value.get("cubins", ()))
    )


if __name__ == "__main__":
    main()
