"""## What it does

Reports `shfl.sync`, `vote.sync`, `match.sync`, `redux.sync`, `elect.sync` and `bar.warp.sync`
with an operand missing, and says which one: mostly the member mask.

## Why it matters

The file does not assemble, in any PTX version that has the instruction: ptxas 13.5 says
`Arguments mismatch for instruction 'shfl'`, the driver returns CUDA_ERROR_INVALID_PTX (218). No
version fills the mask in. The forms before Volta had none, and code that only gained `.sync` still
lacks it; the `0x1f` at the end of an old `shfl` is the clamp (operand c), not a mask.

## Example

```ptx
shfl.sync.bfly.b32 %r1, %r2, 16, 31;
```

## Fix

Name the lanes that take part, by bits: `0xffffffff` where the whole warp is there.

```ptx
shfl.sync.bfly.b32 %r1, %r2, 16, 31, 0xffffffff;
```

## Limits

Which operand is missing is told from what is there: a constant last operand of `shfl.sync` that
is no clamp is taken for the mask, a predicate for the source of a vote.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.isa.warp_operands import operands_of
from ptxlint.model import Finding, Rule, Severity
from ptxlint.ptx.ir import Function, Instruction, Integer, Operand, Register

RULE = Rule(
    code="PTX201",
    name="missing-member-mask",
    category="synchronisation",
    severity=Severity.ERROR,
    summary="a warp instruction with .sync that lacks an operand",
    mnemonics=frozenset({"shfl", "vote", "match", "redux", "elect", "bar"}),
)

_MASK = "membermask"
_NAMED = {
    _MASK: "the membermask",
    "c": "c (the clamp and segment mask)",
    "b": "b (the lane or its distance)",
    "a": "a (the source)",
    "p": "p (the source predicate)",
    "d": "d (the result)",
    "d|p": "`d|p` (the leader and the predicate)",
}
_CLAMP = 0x1F1F  # bits that operand c of shfl may have: the clamp, and the segment mask above it


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each instruction that lacks operands."""
    for instruction in facts.of_mnemonics(function, RULE.mnemonics):
        names = operands_of(instruction.opcode.mnemonic, instruction.opcode.modifiers)
        if names is None or len(instruction.operands) >= len(names):
            continue
        missing = _missing(names, instruction.operands)
        yield _finding(instruction, names, missing, facts)


def _missing(names: tuple[str, ...], given: tuple[Operand, ...]) -> tuple[str, ...]:
    """The names that no given operand stands for."""
    if given and _is_mask(given[-1], names[len(given) - 1]):
        return names[len(given) - 1 : -1]
    return names[len(given) :]


def _is_mask(operand: Operand, place: str) -> bool:
    """Whether an operand in that place can't be what belongs there, so that it is the mask."""
    constant = operand.value if isinstance(operand, Integer) else None
    if place in ("d", "d|p"):
        return constant is not None
    if place in ("b", "c"):
        return constant is not None and constant & ~_CLAMP != 0
    if place == "p":
        return constant not in (None, 0, 1) or (
            isinstance(operand, Register) and operand.variable.type != "pred"
        )
    return False


def _finding(
    instruction: Instruction, names: tuple[str, ...], missing: tuple[str, ...], facts: Facts
) -> Finding:
    given = instruction.operands
    notes = []
    if missing == (_MASK,) and names[-2:-1] == ("c",) and isinstance(given[-1], Integer):
        notes.append(f"the last operand, {given[-1].value}, is the clamp (c), not a mask")
    *first, last = (_NAMED[name] for name in missing)
    lacking = f"{', '.join(first)} and {last} are" if first else f"{last} is"
    count = f"{len(given)} operand{'' if len(given) == 1 else 's'}"
    return RULE.finding(
        f"`{instruction.opcode}` has {count} and needs {len(names)}: {lacking} missing",
        facts.span(instruction),
        notes=(*notes, f"its operands: {', '.join(names)}"),
        help=_help(missing),
        data={"missing": list(missing)},
    )


def _help(missing: tuple[str, ...]) -> str:
    if _MASK in missing:
        return "add the mask of the lanes that take part, 0xffffffff for the whole warp"
    if missing == ("c",):
        return "add c before the mask: 31 for bfly, down and idx over the whole warp, 0 for up"
    return "add the operand"
