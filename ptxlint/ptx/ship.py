"""Make ``ptx/data/shapes.json``: the commonest statement shapes, for every install.

``python -m ptxlint.ptx.ship [FOLDER…]`` (the Makefile's ``make shapes``) adds the shapes of the PTX
under the folders to those that are there, and has Lark make the form of each anew. The first
collection was of corpus/ and of what three or more of some 700 compiler-made files had (cub,
Triton, CUTLASS, wheels, public repositories): 360 shapes, of 521 seen in all; regular families
(vector widths, launch bounds) are made in full.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from .grammar import Form, parse_form
from .lexical import Kinds, normalised, split_directive, split_operands
from .parser import Parser
from .shapes import Shapes, key_of, shipped_shapes

# One lexeme of each kind, to make a text out of a shape's key.
SAMPLES = {
    "i": "%r1",
    "e": "%r1.x",
    "s": "_",
    "w": "WARP_SZ",
    "b": "0f00000000",
    "d": "1",
    "f": "1.5",
    "c": "call",
    "q": '"text"',
}


def families() -> set[tuple[str, str]]:
    """Shapes that come in regular families, of which files show only some members."""
    kinds = Kinds()
    keys = set()
    for rule, text in [*_headers(), *_declarations(), *_operands()]:
        split = split_operands if rule == "operands" else split_directive
        parts = split(text)
        letters = "".join([kinds[word] for word in parts[1::2]])
        keys.add((rule, key_of(normalised(parts[::2]), letters)))
    return keys


def _headers() -> Iterator[tuple[str, str]]:
    sizes = (" 1", " 1, 1", " 1, 1, 1")
    bounds = ["", *(f" .{name}{size}" for name in ("maxntid", "reqntid") for size in sizes)]
    more = [
        "",
        " .minnctapersm 1",
        " .maxnreg 1",
        " .maxclusterrank 1",
        " .reqnctapercluster 1, 1, 1",
    ]
    lists = ("", "()", "(.param .b32 _p)")
    for linkage in (".visible ", ""):
        for parameters, bound, other in product(lists, bounds, more):
            yield "header", f"{linkage}.entry k{parameters}{bound}{other}"
    for linkage, returns, parameters in product(
        ("", ".visible ", ".extern ", ".weak "), lists, lists
    ):
        yield "header", f"{linkage}.func {returns}k{parameters}"
        yield "header", f"{linkage}.func {returns}k{parameters} .noreturn"


def _declarations() -> Iterator[tuple[str, str]]:
    types = (
        "pred",
        "b16",
        "b32",
        "b64",
        "b128",
        "u16",
        "u32",
        "u64",
        "s32",
        "s64",
        "f16",
        "f32",
        "f64",
    )
    for type_, names in product(types, ("a<1>", "a", "a, b", "a, b, c", "a, b, c, d")):
        yield "statement", f".reg .{type_} {names};"
    objects = list(
        product(("", " .align 1"), ("b8", "b32", "b64", "u32", "f32"), ("", "[1]", "[1][1]"))
    )
    for align, type_, size in objects:
        for space in ("shared", "local", "param"):
            yield "statement", f".{space}{align} .{type_} a{size};"
        for linkage, space in product(("", ".visible ", ".extern "), ("global", "const", "shared")):
            yield "item", f"{linkage}.{space}{align} .{type_} a{size};"
            if space != "shared":
                yield "item", f"{linkage}.{space}{align} .{type_} a{size} = {{1}};"
                yield "item", f"{linkage}.{space}{align} .{type_} a{size} = 1;"
    for count in range(1, 9):
        names = ", ".join(["a"] * count)
        yield "statement", f".branchtargets {names};"
        yield "statement", f".calltargets {names};"
    yield "item", ".extern .shared .align 1 .b8 a[];"


def _operands() -> Iterator[tuple[str, str]]:
    # Plain lists: a result, then registers and integers; one floating constant.
    for count in range(1, 7):
        for others in product(("%r", "1"), repeat=count - 1):
            yield "operands", ",".join(["%r", *others])
    # Copies of tensors, one to five coordinates.
    for rank in range(1, 6):
        tensor = "[%r,{" + ",".join(["%r"] * rank) + "}]"
        for rest in ("", ",%r", ",%r,%r"):
            yield "operands", f"[%r],{tensor},[%r]{rest}"
            yield "operands", f"[%r+1],{tensor},[%r]{rest}"
            yield "operands", f"{tensor},[%r]{rest}"
    # Atomics.
    for address in ("[%r]", "[%r+1]", "[%r+-1]"):
        for rest in ("%r", "1", "-1", "0f00000000", "%r,%r", "1,1", "1,%r", "%r,1"):
            yield "operands", f"%r,{address},{rest}"
    # wgmma: accumulators, descriptors (or a fragment), scales.
    for width in (4, 8, 16, 24, 32, 48, 64, 96, 128):
        vector = "{" + ",".join(["%r"] * width) + "}"
        for scale in ("%r", "1"):
            for more in ("1,1", "1,1,1", "1,1,1,1"):
                yield "operands", f"{vector},%r,%r,{scale},{more}"
                yield "operands", f"{vector},{{%r,%r,%r,%r}},%r,{scale},{more}"
    yield from _tensor_memory()
    # Stores of constants.
    for address, constant, width in product(("[%r]", "[%r+1]"), ("1", "0f00000000"), (2, 4)):
        yield "operands", f"{address},{{{','.join([constant] * width)}}}"


def _tensor_memory() -> Iterator[tuple[str, str]]:
    """tcgen05: loads and stores of up to 128 registers, products with and without scales."""
    addresses = ("[%r]", "[%r+1]")
    for width, address, middle in product((1, 2, 4, 8, 16, 32, 64, 128), addresses, ("", "1,")):
        vector = "{" + ",".join(["%r"] * width) + "}"
        yield "operands", f"{address},{middle}{vector}"
        yield "operands", f"{vector},{address}{',1' if middle else ''}"
    for address in addresses:
        for first in ("%r", address):
            for middle in (
                "",
                "{%r,%r,%r,%r},",
                "{%r,%r,%r,%r,%r,%r,%r,%r},",
                f"{address},{address},",
            ):
                yield "operands", f"{address},{first},%r,%r,{middle}%r"


def text_of(rule: str, key: str) -> str:
    """A text of that shape: what Lark must give the shipped form for."""
    literals = key.split("\0")
    count = len(literals) - 1
    kinds = literals[-1][len(literals[-1]) - count :] if count else ""
    literals[-1] = literals[-1][: len(literals[-1]) - count]
    words = [SAMPLES[kind] for kind in kinds]
    text = "".join(a + b for a, b in zip(literals, [*words, ""], strict=True))
    if rule == "operands":
        return f"op {text};"
    return f"call {text};" if rule == "calls" else text


def form_by_lark(rule: str, key: str) -> list[Form]:
    """The form of a shape as the grammar gives it."""
    start = "statement" if rule in ("operands", "calls") else rule
    shapes = Shapes(shipped=False)
    if start != "statement" or rule == "statement":
        return parse_form(text_of(rule, key), start).form
    statement = text_of(rule, key)
    head = statement.index(" ") + 1
    shapes.learn_operands(statement, head, statement[head:-1], key, rule == "calls")
    return next(iter(shapes.learnt.values()))


def collect(paths: list[Path]) -> set[tuple[str, str]]:
    """Rule and key of the shapes of all PTX files under ``paths``."""
    shapes = Shapes(shipped=False)
    for path in sorted(file for root in paths for file in root.rglob("*.ptx")):
        Parser(path.read_text(encoding="utf-8"), path.name, shapes).run()
    return set(shapes.learnt)


def main() -> None:
    """Collect and write."""
    known = {(rule, key) for rule, forms in shipped_shapes().items() for key in forms}
    table: dict[str, dict[str, list[Form]]] = {}
    for rule, key in sorted(
        known | families() | collect([Path(argument) for argument in sys.argv[1:]])
    ):
        table.setdefault(rule, {})[key] = form_by_lark(rule, key)
    rules = []
    for rule, forms in table.items():
        rows = ",\n".join(f"{json.dumps(key)}:{json.dumps(form)}" for key, form in forms.items())
        rules.append(f"{json.dumps(rule)}:{{\n{rows}\n}}")
    text = "{\n" + ",\n".join(rules) + "\n}\n"
    (Path(__file__).parent / "data" / "shapes.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
