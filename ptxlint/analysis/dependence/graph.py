"""The dependence graph of a function, in networkx."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...ptx.ir import Function, Instruction
from ..facts import Facts
from ..flow.graph import control_flow
from ..flow.registers import register_use
from .barriers import barrier_edges
from .memory import memory_edges
from .registers import CONTROL, control_edges, register_edges

if TYPE_CHECKING:
    import networkx

_BAD = "\N{REPLACEMENT CHARACTER}"
MEMORY, BARRIER = "memory", "barrier"


def instruction_text(instruction: Instruction, facts: Facts) -> str:
    """An instruction as it stands in the file, on one line of printable characters."""
    text = facts.module.source.text[instruction.start : instruction.end]
    line = " ".join(text.split())
    return line if line.isprintable() else "".join(c if c.isprintable() else _BAD for c in line)


def dependence(function: Function, facts: Facts) -> networkx.MultiDiGraph[int]:
    """All dependences between the instructions of a function.

    Nodes are instructions by index, with ``opcode``, ``text``, ``block``, ``line`` (of the PTX) and
    ``kernel``. Edges go from what comes first to what needs it, with a ``kind``:

    - ``data``, ``predicate``, ``carry``: a register (``register``) that was written
    - ``memory``: an access that may be to the same place, with ``hazard`` (``RAW``, ``WAR``,
      ``WAW``) and ``alias`` (``proven``, ``may``, ``assumed-distinct``); the nearest ones only
    - ``barrier``: an access and what orders it
    - ``control``: a branch, with ``taken``, that decides whether it runs
    """
    import networkx

    graph: networkx.MultiDiGraph[int] = networkx.MultiDiGraph(
        kernel=function.name, entry=function.is_kernel
    )
    flow = facts.once(function, control_flow)
    source = facts.module.source
    for index, instruction in enumerate(function.instructions):
        graph.add_node(
            index,
            opcode=str(instruction.opcode),
            text=instruction_text(instruction, facts),
            block=flow.block_of[index],
            line=source.line_of(instruction.start),
            kernel=function.name,
        )
    use = facts.once(function, register_use)
    for edge in register_edges(function, facts):
        graph.add_edge(edge.source, edge.target, kind=edge.kind, register=use.name(edge.register))
    for each in memory_edges(function, facts):
        graph.add_edge(each.source, each.target, kind=MEMORY, hazard=each.hazard, alias=each.alias)
    for before, after in barrier_edges(function, facts):
        graph.add_edge(before, after, kind=BARRIER)
    for branch, target, taken in control_edges(function, facts):
        graph.add_edge(branch, target, kind=CONTROL, taken=taken)
    return graph
