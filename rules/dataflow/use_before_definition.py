"""## What it does

Reports a register that is read where no path from the function's entry has written it, if the
undefined bits come to matter: as an address, in a store, as a guard or branch condition, as a
member mask, or as an operand of something with an effect. The value is followed, bit by bit,
through moves, arithmetic, packing and loops up to there.

## Why it matters

ptxas 13.5 accepts it without a word, and the register holds whatever was left in it: the kernel is
wrong, and may be right in a debug build. It comes of a line moved in hand-written PTX (an `add`
above the `call` whose result it adds), of a misspelt register, of a generator that forgot one arm,
of a loop whose counter or sum never got a first value.

## Example

```ptx
.reg .b32 %r<4>;
add.s32 %r3, %r2, 1;
ld.param.b32 %r2, [retval];
st.global.b32 [%rd1], %r3;
```

## Fix

Define the register above its first use, or name the one that was meant.

## Limits

Undefined values that are only moved are not reported, nor is what is masked, shifted or selected
away: compilers pack a half that nobody wrote and drop it later. Copies of such a value may also
fill parameters, results, single bytes (objects of empty classes) and the last elements of a stored
vector. An accumulator of `wgmma` is not judged (a scale of 0 ignores it), nor are single rows of a
matrix fragment. A register that some path to the read writes is PTX602's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ptxlint.analysis import Facts
from ptxlint.analysis.dataflow.unwritten import unwritten
from ptxlint.analysis.dataflow.writers import writers
from ptxlint.analysis.places import at_lines
from ptxlint.model import Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Function, Register

if TYPE_CHECKING:
    from ptxlint.analysis.dataflow.spread import Observation

RULE = Rule(
    code="PTX601",
    name="use-before-definition",
    category="dataflow",
    severity=Severity.WARNING,
    summary="a register that is read, and matters, before anything writes it",
)


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each register, at the first read that matters."""
    if not facts.once(function, unwritten):
        return
    from ptxlint.analysis.dataflow.undefined import undefined_uses  # few functions come here

    found: dict[Register, list[Observation]] = {}
    for observation in facts.once(function, undefined_uses):
        found.setdefault(observation.register, []).append(observation)
    for register, observations in found.items():
        yield _finding(function, register, sorted(observations, key=_place), facts)


def _place(observation: Observation) -> tuple[int, int]:
    return observation.read, observation.at


def _finding(
    function: Function, register: Register, observations: list[Observation], facts: Facts
) -> Finding:
    first = observations[0]
    reader = function.instructions[first.read]
    labels, why = _definitions(function, register, first.read, facts)
    what = f"it {first.does}; "
    if first.at != first.read:
        what = ""
        span = facts.span(function.instructions[first.at])
        labels.append(Label(span, f"here what comes of it {first.does}"))
    reads = {observation.read for observation in observations} - {first.read}
    more, lines = at_lines([function.instructions[i].start for i in sorted(reads)], facts)
    return RULE.finding(
        f"`{register.name}` is undefined where `{reader.opcode}` reads it: {why}",
        facts.span(reader),
        labels=tuple(labels),
        notes=(
            f"{what}ptxas says nothing, and the register holds whatever was left in it",
            *more,
        ),
        help=f"define `{register.name}` before this, or read the register that was meant",
        data={"register": register.name, "lines": lines},
    )


def _definitions(
    function: Function, register: Register, read: int, facts: Facts
) -> tuple[list[Label], str]:
    """Where the register is written after all, and why that does not help."""
    written = facts.once(function, writers).get(register, [])
    if not written:
        return [], "nothing writes it"
    if written == [read]:
        return [], "nothing else writes it"
    later = [i for i in written if i > read]
    chosen = later[0] if later else written[-1]
    span = facts.span(function.instructions[chosen])
    if later and written[0] >= read:
        lines = span.start.line - facts.span(function.instructions[read]).start.line
        below = f", {lines} line{'s' * (lines != 1)} below" if lines else ""
        return [Label(span, f"first written here{below}")], "it is written only after this"
    return [
        Label(span, "written here, on no path that leads to the read")
    ], "no path to it writes it"
