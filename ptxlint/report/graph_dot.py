"""Graphs in Graphviz's DOT language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..analysis.facts import Facts
from ..analysis.flow.graph import control_flow
from ..ptx.ir import Function
from .graph import Drawn, block_name, condition, instruction_text, labels, line_of, title

_STYLES = {
    "data": "",
    "predicate": 'color="blue"',
    "carry": 'color="blue", style="dashed"',
    "memory": 'color="red"',
    "barrier": 'color="darkgreen"',
    "control": 'color="gray", style="dashed"',
}
_HEAD = '  node [shape="box", fontname="monospace", fontsize="10"];'


def text(drawn: Sequence[Drawn], kind: str) -> str:
    """One ``digraph`` for each function."""
    form = _blocks if kind == "cfg" else _dependences
    lines: list[str] = []
    for function, facts in drawn:
        lines.append(f"digraph {quoted(function.name)} {{")
        lines.append(f'  graph [label={quoted(title(function))}, labelloc="t"];')
        lines.append(_HEAD)
        lines += form(function, facts)
        lines.append("}")
    return "".join(line + "\n" for line in lines)


def quoted(text: str) -> str:
    """A string of DOT. Line ends come out as ``\\l``: the line is set to the left."""
    inner = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\l")
    return f'"{inner}"'


def _blocks(function: Function, facts: Facts) -> Iterator[str]:
    flow = facts.once(function, control_flow)
    names = labels(function)
    for block in flow.blocks:
        rows = [block_name(block, names)] + [
            f"{line_of(i, facts)}: {instruction_text(i, facts)}"
            for i in flow.instructions[block.start : block.stop]
        ]
        style = "" if flow.reached >> block.index & 1 else ', style="dashed"'
        yield f"  b{block.index} [label={quoted(''.join(row + chr(10) for row in rows))}{style}];"
    for block in flow.blocks:
        for successor in block.successors:
            when = condition(flow, block, successor)
            label = f" [label={quoted(when)}]" if when else ""
            yield f"  b{block.index} -> b{successor}{label};"


def _dependences(function: Function, facts: Facts) -> Iterator[str]:
    graph = facts.dependence(function)
    for index, node in graph.nodes(data=True):
        yield f"  i{index} [label={quoted(f'{index}: ' + node['text'] + chr(10))}];"
    for source, target, edge in graph.edges(data=True):
        label = edge.get("register") or edge.get("hazard") or ""
        style = _STYLES[edge["kind"]]
        if edge.get("alias") not in (None, "proven"):
            style += ', style="dashed"'
        parts = [f"label={quoted(label)}"] if label else []
        parts += [style] if style else []
        yield f"  i{source} -> i{target}{' [' + ', '.join(parts) + ']' if parts else ''};"
