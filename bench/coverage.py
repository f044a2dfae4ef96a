"""How much of the addresses does the pattern domain know?

For all PTX below the folders given, by top-level subfolder, of the shared and of the global
accesses (ld, st, atom, red, cp.async, ldmatrix, stmatrix; generic ones are left out):

n          accesses in the text
known      share whose address is known in every thread up to what all share
+stride    ... or up to rows of an unknown stride
interior   ... where bound checks are taken to agree in a warp (for performance rules)
data       share that no analysis can know: the index was loaded, or comes from a scan
uniform    share of those known that are the same in all threads

Then the time for all of them per MB (10^6 bytes) of PTX, parsing and SSA not counted, and what the
unknown ones come from. Files built with -G are left out: there everything goes through the stack.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ptxlint import parse
from ptxlint.analysis import Facts
from ptxlint.analysis.flow.ssa import PHI, values
from ptxlint.analysis.values.patterns import Patterns, interior_patterns, patterns
from ptxlint.engine.options import Options
from ptxlint.ptx.ir import Address, Function, Instruction, Register

from .common import chosen, files, flag_parser, percent, progress, report, table

SPACES = ("shared", "global")
MNEMONICS = frozenset({"ld", "ldu", "st", "atom", "red", "ldmatrix", "stmatrix"})
DATA = frozenset({"ld", "atom", "shfl", "redux", "match", "tex", "mma", "wmma"})


@dataclass
class Tally:
    """The counts of one group of files."""

    counts: Counter[str] = field(default_factory=Counter)
    causes: Counter[tuple[str, str]] = field(default_factory=Counter)
    seconds: float = 0.0

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.counts + other.counts,
            self.causes + other.causes,
            self.seconds + other.seconds,
        )


def accesses(function: Function) -> Iterator[tuple[int, str, Address]]:
    """(instruction, space, address) of the accesses that count."""
    for index, instruction in enumerate(function.instructions):
        opcode = instruction.opcode
        if opcode.mnemonic == "cp" and opcode.modifiers[:1] == ("async",):
            if "bulk" in opcode.modifiers or "mbarrier" in opcode.modifiers:
                continue
            addresses = [o for o in instruction.operands if isinstance(o, Address)]
            yield from ((index, s, a) for s, a in zip(SPACES, addresses, strict=False))
        elif opcode.mnemonic in MNEMONICS and (space := space_of(instruction)):
            for operand in instruction.operands:
                if isinstance(operand, Address):
                    yield index, space, operand
                    break


def space_of(instruction: Instruction) -> str | None:
    """``shared`` or ``global``, where an access names one of them."""
    for modifier in instruction.opcode.modifiers:
        name = modifier.partition("::")[0]
        if name in SPACES:
            return name
    return None


def cause(found: Patterns, instruction: int, address: Address) -> str:
    """What the first unknown value behind an address is."""
    solver = found.solver
    ssa = solver.ssa
    base = address.base
    if not isinstance(base, Register):
        return "no register"
    value = ssa.read(instruction, solver.use.numbers[base])
    seen: set[int] = set()
    while value is not None:
        value = solver.canonical[value]
        if value in seen:
            return "a cycle of phis"
        seen.add(value)
        if solver.patterns[value] is not None:
            return "left at different turns"
        each = ssa.all[value]
        sources = each.operands if each.kind == PHI else (*ssa.reads[each.at], *each.operands)
        unknown = [s for s in sources if solver.patterns[solver.canonical[s]] is None]
        fresh = [s for s in unknown if solver.canonical[s] not in seen]
        if each.kind != PHI:
            mnemonic = "entry" if each.at < 0 else solver.flow.instructions[each.at].opcode.mnemonic
            if mnemonic in DATA or not fresh:
                return mnemonic
        elif not fresh:
            loop = solver.divergence.loops.innermost(each.at)
            turns = loop is not None and loop.header == each.at
            return "loop variable" if turns else "join"
        value = fresh[0]
    return "?"


def measure(text: str) -> Tally:
    """The counts of one file."""
    tally = Tally()
    module = parse(text)
    facts = Facts(module, Options())
    for kernel in module.kernels:
        facts.once(kernel, values)
        wanted = list(accesses(kernel))
        start = time.process_time()
        strict = facts.once(kernel, patterns)
        known = [strict.address(index, address) for index, _, address in wanted]
        tally.seconds += time.process_time() - start
        tally.counts["wanted"] += bool(wanted)
        inner = facts.once(kernel, interior_patterns)
        for (index, space, address), pattern in zip(wanted, known, strict=True):
            tally.counts[space] += 1
            within = inner.address(index, address)
            tally.counts[f"{space} interior"] += within is not None
            if pattern is None:
                why = cause(strict, index, address)
                tally.causes[space, why] += 1
                tally.counts[f"{space} data"] += why in DATA
                continue
            tally.counts[f"{space} stride"] += 1
            tally.counts[f"{space} known"] += not pattern.has_strides
            tally.counts[f"{space} uniform"] += pattern.is_uniform
    tally.counts["bytes"] = len(text)
    tally.counts["files"] = 1
    return tally


def figures(groups: dict[str, Tally]) -> dict[str, Any]:
    """The tallies as plain data."""
    return {
        name: {
            **tally.counts,
            "seconds per MB": tally.seconds * 1e6 / max(tally.counts["bytes"], 1),
            "causes": [[*key, count] for key, count in tally.causes.most_common()],
        }
        for name, tally in groups.items()
    }


def tables(groups: dict[str, Tally]) -> str:
    """The figures for people."""
    head = ["folder", "files", "MB", "s/MB"]
    for space in SPACES:
        head += [space, "known", "+stride", "interior", "data", "uniform"]
    rows: list[list[object]] = []
    lines = []
    for name, tally in groups.items():
        count = tally.counts
        row: list[object] = [name, count["files"], count["bytes"] / 1e6]
        row.append(tally.seconds * 1e6 / max(count["bytes"], 1))
        for space in SPACES:
            row.append(count[space])
            row += [
                percent(count[f"{space} {key}"], count[space])
                for key in ("known", "stride", "interior", "data")
            ]
            row.append(percent(count[f"{space} uniform"], count[f"{space} stride"]))
        rows.append(row)
        for space in SPACES:
            top = [(why, n) for (s, why), n in tally.causes.most_common() if s == space][:8]
            if top:
                lines.append(f"{name}, {space}: " + ", ".join(f"{why} {n}" for why, n in top))
    return "\n".join([table(head, rows), "", *lines])


def main() -> None:
    """Measure and print."""
    flags = flag_parser(__doc__).parse_args()
    groups: dict[str, Tally] = {}
    for file in progress(chosen(files(flags.folders), flags)):
        text = file.text()
        if file.verdict == "reject" or ".target" not in text or ", debug" in text[:4096]:
            continue
        tally = measure(text)
        groups[file.group] = groups.get(file.group, Tally()) + tally
    groups = dict(sorted(groups.items()))
    if len(groups) > 1:
        groups["total"] = sum(groups.values(), Tally())
    report(flags, figures(groups), tables(groups))


if __name__ == "__main__":
    main()
