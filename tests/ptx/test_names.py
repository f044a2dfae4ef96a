"""Names: what each is bound to, and what is said of those that are not."""

from __future__ import annotations

from ptxlint.ptx import parse
from ptxlint.ptx.ir import (
    Address,
    Element,
    Function,
    Instruction,
    Integer,
    Label,
    Module,
    Register,
    SpecialRegister,
    Symbol,
    Variable,
)

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


def kernel(body: str, before: str = "") -> Module:
    return parse(f"{HEAD}{before}.visible .entry k(.param .u64 p)\n{{\n{body}\n}}\n")


def instructions(module: Module) -> list[Instruction]:
    return module.functions[-1].instructions


def problems(module: Module) -> list[tuple[str, str]]:
    return [(p.kind, p.name) for p in module.name_problems]


def test_mentions_of_a_register_are_one_object() -> None:
    module = kernel(".reg .b32 %r<5>; mov.b32 %r1, %r2; { mov.b32 %r2, %r1; }")
    first, second = instructions(module)
    assert first.operands[0] is second.operands[1]
    assert isinstance(first.operands[0], Register)
    assert first.operands[0].variable.count == 5


def test_shadowing() -> None:
    module = kernel(
        ".reg .b32 %r<3>; mov.b32 %r1, 0; { .reg .b32 %r1; mov.b32 %r1, 1; } mov.b32 %r1, 2;"
    )
    outer, inner, after = (i.operands[0] for i in instructions(module))
    assert outer is after
    assert inner is not outer
    assert isinstance(inner, Register)
    assert inner.variable.count is None


def test_a_use_before_the_inner_declaration_means_the_outer() -> None:
    module = kernel(".reg .b32 t; { mov.b32 t, 0; .reg .b32 t; mov.b32 t, 1; } mov.b32 t, 2;")
    outer, inner, after = (i.operands[0] for i in instructions(module))
    assert outer is after
    assert inner is not outer


def test_bindings() -> None:
    module = kernel(
        ".reg .b32 %r<3>; .reg .v4 .b32 v; .shared .b8 s[4];\n"
        "mov.b32 %r1, %tid.x; mov.b32 %r1, v.y; ld.shared.b32 %r1, [s+4]; bra L; L: call f;",
        before=".func f() { ret; }\n",
    )
    special, element, load, branch, call = instructions(module)
    assert isinstance(special.operands[1], SpecialRegister)
    assert isinstance(element.operands[1], Element)
    address = load.operands[1]
    assert isinstance(address, Address)
    assert isinstance(address.base, Symbol)
    assert isinstance(address.base.target, Variable)
    assert (address.base.target.name, address.offset) == ("s", 4)
    assert isinstance(branch.operands[0], Symbol)
    assert isinstance(branch.operands[0].target, Label)
    assert isinstance(call.operands[0], Symbol)
    assert isinstance(call.operands[0].target, Function)
    assert problems(module) == []


def test_constants_are_folded() -> None:
    module = kernel(".reg .b32 %r<2>; mov.b32 %r1, (1+2*3)<<4; mov.b32 %r1, -5/2; mov.b32 %r1, ~0;")
    values = [i.operands[1] for i in instructions(module)]
    assert [v.value for v in values if isinstance(v, Integer)] == [112, -2, -1]


def test_labels_of_scopes() -> None:
    good = kernel("{ L: bra L; } { L: bra L; } bra M; { bra M; } M: ret;")
    assert problems(good) == []
    assert problems(kernel("bra N; { N: ret; }")) == [("hidden", "N")]
    assert problems(kernel("L: ret; L: ret;")) == [("duplicate-label", "L")]


def test_undeclared_early_and_out_of_range() -> None:
    body = ".reg .b32 %r<3>; mov.b32 %r3, 0; mov.b32 t, 1; .reg .b32 t; mov.b32 q, 2; bra NO;"
    assert problems(kernel(body)) == [
        ("undeclared", "%r3"),
        ("early", "t"),
        ("undeclared", "q"),
        ("undeclared", "NO"),
    ]


def test_the_place_is_the_operands() -> None:
    module = kernel(".reg .b32 add; add.s32 add, add, addx;")
    [problem] = module.name_problems
    text = module.source.text
    assert text[problem.start : problem.end] == "addx"


def test_duplicates() -> None:
    assert problems(kernel(".reg .b32 t; .reg .b64 t;")) == [("duplicate-variable", "t")]
    assert problems(kernel(".reg .b32 %r<2>; .reg .b32 %r<4>;")) == [("duplicate-variable", "%r")]
    assert problems(kernel(".reg .b32 %r<2>; .reg .b32 %r1;")) == []
    assert problems(kernel(".reg .b32 t; { .reg .b32 t; }")) == []
    twice = ".func f() { ret; }\n.func f() { ret; }\n"
    assert problems(kernel("ret;", twice)) == [("duplicate-function", "f")]
    assert problems(kernel("ret;", ".func f();\n.func f();\n.func f() { ret; }\n")) == []
    assert problems(kernel("ret;", ".extern .global .b32 g;\n.global .b32 g;\n")) == []


def test_declaration_then_definition_is_one_symbol() -> None:
    module = kernel("ret;", ".func f();\n.global .u64 t = f;\n.func f() { ret; }\n")
    initialiser = module.variables[0].initialiser
    assert isinstance(initialiser, Symbol)
    assert isinstance(initialiser.target, Function)
    assert initialiser.target.body is not None


def test_line_information_binds_across_the_module() -> None:
    module = parse(
        HEAD
        + ".visible .entry k()\n{\nF: .loc 1 2 3, function_name I, inlined_at 1 1 1\nret;\n}\n"
        + '.file 1 "a.cu"\n.section .debug_str\n{\nI:\n.b8 0\n}\n'
    )
    [instruction] = module.functions[0].instructions
    assert instruction.loc is not None
    function = instruction.loc.function
    assert isinstance(function, Symbol)
    assert isinstance(function.target, Label)
    assert module.files == {1: "a.cu"}


def test_leading_zeros_name_the_same_register() -> None:
    module = kernel(".reg .b32 %r<9>; mov.b32 %r01, %r1;")
    [instruction] = instructions(module)
    assert instruction.operands[0] is instruction.operands[1]
