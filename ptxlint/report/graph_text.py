"""Graphs as text for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..analysis.facts import Facts
from ..analysis.flow.dominance import dominators
from ..analysis.flow.graph import BasicBlock, ControlFlow, control_flow
from ..analysis.flow.loops import Loops, loops
from ..ptx.ir import Function
from .graph import Drawn, block_name, condition, instruction_text, labels, line_of, title
from .summary import plural

Line = list[tuple[str, str]]
_ORDER = ("data", "predicate", "carry", "memory", "barrier", "control")
_SHOWN = 8  # of one kind of dependence; a long list says how many more


def text(drawn: Sequence[Drawn], kind: str, color: bool) -> str:
    """The graphs of the functions, one after the other."""
    form = _blocks if kind == "cfg" else _dependences
    lines: list[Line] = []
    for function, facts in drawn:
        if lines:
            lines.append([])
        lines += form(function, facts)
    if color:
        from .color import painted

        return "".join(painted(line) + "\n" for line in lines)
    return "".join("".join(part for part, _ in line) + "\n" for line in lines)


def _blocks(function: Function, facts: Facts) -> Iterator[Line]:
    flow = facts.once(function, control_flow)
    nest = facts.once(function, loops)
    names = labels(function)
    counts = (
        (len(flow.blocks), "block"),
        (len(nest.all), "loop"),
        (len(flow.instructions), "instruction"),
    )
    said = ", ".join(f"{count} {plural(count, word)}" for count, word in counts)
    yield [(title(function), "bold"), (f": {said}", "")]
    parents = facts.once(function, dominators).parent
    for block in flow.blocks:
        yield [("  " + block_name(block, names), "cyan"), (_place(flow, nest, parents, block), "")]
        for instruction in flow.instructions[block.start : block.stop]:
            number = f"{line_of(instruction, facts):>8}  "
            yield [(number, "dim"), (instruction_text(instruction, facts), "")]
        yield [("          → " + _onward(flow, block), "dim")]


def _place(flow: ControlFlow, nest: Loops, parents: list[int], block: BasicBlock) -> str:
    if not flow.reached >> block.index & 1:
        return ": can't be reached"
    parts = []
    if block.index == 0:
        parts.append("entry")
    if depth := nest.depth(block.index):
        head = "head of its loop, " if any(x.header == block.index for x in nest.all) else ""
        parts.append(f"{head}loop depth {depth}")
    if parents[block.index] >= 0:
        parts.append(f"dominated by {parents[block.index]}")
    if block.predecessors:
        parts.append("from " + ", ".join(str(p) for p in block.predecessors))
    return ": " + "; ".join(parts) if parts else ""


def _onward(flow: ControlFlow, block: BasicBlock) -> str:
    ways: dict[str, list[str]] = {}
    for successor in (*block.successors, *([None] if block.leaves else [])):
        way = "out" if successor is None else str(successor)
        ways.setdefault(condition(flow, block, successor), []).append(way)
    return "; ".join(", ".join(way) + (f" if {when}" if when else "") for when, way in ways.items())


def _dependences(function: Function, facts: Facts) -> Iterator[Line]:
    graph = facts.dependence(function)
    nodes, edges = graph.number_of_nodes(), graph.number_of_edges()
    said = f": {nodes} {plural(nodes, 'instruction')}, {edges} {plural(edges, 'dependence')}"
    yield [(title(function), "bold"), (said, "")]
    for index, node in graph.nodes(data=True):
        yield [(f"{index:>6}", "cyan"), (f"  line {node['line']}  ", "dim"), (node["text"], "")]
        after: dict[str, list[str]] = {}
        for source, _, edge in sorted(graph.in_edges(index, data=True), key=lambda e: e[0]):
            after.setdefault(edge["kind"], []).append(f"{source}{_detail(edge)}")
        for kind in (kind for kind in _ORDER if kind in after):
            sources = after[kind]
            more = f" and {len(sources) - _SHOWN} more" if len(sources) > _SHOWN else ""
            yield [(f"          {kind}: {', '.join(sources[:_SHOWN])}{more}", "dim")]


def _detail(edge: dict[str, object]) -> str:
    if "register" in edge:
        return f" {edge['register']}"
    if "hazard" in edge:
        return f" {edge['hazard']} {edge['alias']}"
    if "taken" in edge:
        return "" if edge["taken"] else " not taken"
    return ""
