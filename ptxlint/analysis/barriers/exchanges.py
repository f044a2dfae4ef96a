"""Two threads, one place in shared memory, one of them writes, and nothing in between to wait for.

Only accesses of which all is known: the threads that make them, and where each of these goes. Both
stand in one block, or in one that every way to the other comes through, with nothing on any way
between them that makes threads wait. What the block's size would have to be is never taken: the
threads are those that every launch has which the file allows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...isa.memory import memory_effect
from ...ptx.ir import Function, Instruction, Variable
from ..facts import Facts
from ..flow.dominance import dominators
from ..flow.graph import ControlFlow, control_flow
from ..flow.loops import loops
from ..memory.executing import block_assumption
from ..memory.requests import KNOWN, Request, requests
from ..values.assumed import texts
from ..values.patterns import Patterns, patterns
from ..values.threads import WARP_SIZE

_MOST = 96  # accesses of a kernel that are looked at in pairs
_FAR = 12  # blocks back
# What makes threads wait, or may: for a lane of the warp, another warp, or what someone writes.
_WAITS = frozenset(
    {"bar", "barrier", "mbarrier", "call", "shfl", "vote", "match", "redux", "elect", "setmaxnreg"}
)
_FENCES = frozenset({"fence", "membar"})
RAW, WAR = "RAW", "WAR"


class Exchange(NamedTuple):
    """``later`` in thread ``second`` and ``earlier`` in thread ``first`` of a block (by number) use
    the bytes at ``offset`` of ``variable``, and one of the two writes them: ``kind`` is ``RAW``
    where the earlier does, ``WAR`` where the later. ``in_warp``: all such pairs of threads are
    of one warp.
    """

    earlier: Request
    later: Request
    first: int
    second: int
    variable: Variable
    offset: int
    in_warp: bool
    kind: str
    assumptions: tuple[str, ...]


class _Use(NamedTuple):
    """A known access: by each 4 bytes of the object, the threads that use them."""

    request: Request
    at: int
    writes: bool
    variable: Variable
    assumed: int
    words: dict[int, list[int]]


def exchanges(function: Function, facts: Facts) -> list[Exchange]:
    """All such pairs of a kernel whose block is told, each access as the later one once."""
    known = facts.once(function, patterns)
    flow = facts.once(function, control_flow)
    if not function.is_kernel or not known.space.exact or not flow.resolved:
        return []
    uses = list(_uses(function, facts, known))
    if len(uses) > _MOST:
        return []
    found = []
    for later in uses:
        for earlier in reversed([use for use in uses if use.at < later.at]):
            one = _meet(earlier, later)
            if one is not None and unordered(earlier.at, later.at, function, facts, flow):
                found.append(one)
                break
    told = block_assumption(function, facts)
    return [one._replace(assumptions=(*one.assumptions, *told)) for one in found]


def _uses(function: Function, facts: Facts, known: Patterns) -> Iterator[_Use]:
    for request in facts.once(function, requests):
        access, pattern = request.access, request.pattern
        if access.space != "shared" or request.state != KNOWN or pattern is None or pattern.lanes:
            continue
        # Copies are complete some time later, and atomics are for meeting.
        if access.kind not in ("read", "write") or request.size is None:
            continue
        variable, threads = pattern.object, known.threads(access.index)
        if variable is None or len(pattern.terms) != 1 or threads is None:
            continue
        if access.instruction.opcode.mnemonic == "ldmatrix":
            continue
        words: dict[int, list[int]] = {}
        steps = None if pattern.vector is None else pattern.vector.values
        for thread in range(known.space.size):
            if threads.bits >> thread & 1:
                start = pattern.const + (0 if steps is None else steps[thread])
                for word in range(start // 4, (start + request.size - 1) // 4 + 1):
                    words.setdefault(word, []).append(thread)
        assumed = pattern.assumptions | threads.assumptions
        yield _Use(request, access.index, access.writes, variable, assumed, words)


def _meet(earlier: _Use, later: _Use) -> Exchange | None:
    """Two threads that use one word, and one of the accesses writes; of two warps if there are."""
    if earlier.writes == later.writes or earlier.variable is not later.variable:
        return None  # two stores may store the same
    inside: tuple[int, int, int] | None = None
    for word, second in later.words.items():
        for one in earlier.words.get(word, ()):
            for other in second:
                if one // WARP_SIZE != other // WARP_SIZE:
                    return _exchange(earlier, later, (one, other, word), False)
                if one != other and inside is None:
                    inside = (one, other, word)
    return None if inside is None else _exchange(earlier, later, inside, True)


def _exchange(earlier: _Use, later: _Use, pair: tuple[int, int, int], in_warp: bool) -> Exchange:
    first, second, word = pair
    return Exchange(
        earlier.request,
        later.request,
        first,
        second,
        later.variable,
        4 * word,
        in_warp,
        RAW if earlier.writes else WAR,
        texts(earlier.assumed | later.assumed),
    )


def unordered(
    earlier: int,
    later: int,
    function: Function,
    facts: Facts,
    flow: ControlFlow,
    fences: bool = True,
) -> bool:
    """Whether on every way from one to the other nothing makes a thread wait; ``fences``: nor is
    there a fence, with which threads may have made something up between them.
    """

    def waits(instruction: Instruction) -> bool:
        return (fences or instruction.opcode.mnemonic not in _FENCES) and _waits(instruction)

    start, end = flow.block_of[earlier], flow.block_of[later]
    code = function.instructions
    if start == end:
        return not any(map(waits, code[earlier + 1 : later]))
    over, around = facts.once(function, dominators), facts.once(function, loops)
    # All come through ``top``: those that make both accesses, and those that make one.
    top = start
    while not over.dominates(top, end):
        top = over.parent[top]
        if top < 0:
            return False
    nest = around.innermost(end)
    if around.innermost(top) is not nest or around.innermost(start) is not nest:
        return False
    between, waiting = set(), list(flow.blocks[end].predecessors)
    while waiting:
        block = waiting.pop()
        if block == top or block in between:
            continue
        between.add(block)
        if len(between) > _FAR or around.innermost(block) is not nest:
            return False  # a loop may wait for something
        waiting += flow.blocks[block].predecessors
    if start != top and start not in between:
        return False
    parts = [code[earlier + 1 : flow.blocks[start].stop], code[flow.blocks[end].start : later]]
    parts += [code[flow.blocks[b].start : flow.blocks[b].stop] for b in between - {start}]
    return not any(waits(each) for part in parts for each in part)


def _waits(instruction: Instruction) -> bool:
    opcode = instruction.opcode
    if opcode.mnemonic in _WAITS:
        return opcode.modifiers[:1] not in (("init",), ("inval",))
    effect = memory_effect(opcode.mnemonic, opcode.modifiers)
    return effect.orders
