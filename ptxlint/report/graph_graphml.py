"""Graphs as GraphML, through networkx."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import Any

from ..analysis.facts import Facts
from ..analysis.flow.dominance import dominators
from ..analysis.flow.graph import control_flow
from ..analysis.flow.loops import loops
from ..ptx.ir import Function
from .graph import Drawn, condition, instruction_text, labels, line_of


def text(drawn: Sequence[Drawn], kind: str) -> str:
    """One ``graph`` element for each function, in one document."""
    from networkx.readwrite.graphml import GraphMLWriter

    writer = GraphMLWriter(encoding="utf-8", prettyprint=True)
    for function, facts in drawn:
        graph = block_graph(function, facts) if kind == "cfg" else facts.dependence(function)
        writer.add_graph_element(graph)
    out = BytesIO()
    writer.dump(out)
    return out.getvalue().decode("utf-8") + "\n"


def block_graph(function: Function, facts: Facts) -> Any:
    """The control-flow graph as a ``networkx.DiGraph`` of blocks by index.

    Nodes have ``labels``, ``text``, ``first_line``, ``last_line`` (0 for an empty block),
    ``reached``, ``loop_depth`` and ``dominator`` (-1 for none); edges ``condition``.
    """
    import networkx

    flow = facts.once(function, control_flow)
    nest = facts.once(function, loops)
    parents = facts.once(function, dominators).parent
    names = labels(function)
    graph: Any = networkx.DiGraph(kernel=function.name, entry=function.is_kernel)
    for block in flow.blocks:
        own = flow.instructions[block.start : block.stop]
        graph.add_node(
            block.index,
            labels=" ".join(names.get(block.start, []) if own else []),
            text="\n".join(instruction_text(i, facts) for i in own),
            first_line=line_of(own[0], facts) if own else 0,
            last_line=line_of(own[-1], facts) if own else 0,
            reached=bool(flow.reached >> block.index & 1),
            loop_depth=nest.depth(block.index),
            dominator=parents[block.index],
        )
    for block in flow.blocks:
        for successor in block.successors:
            graph.add_edge(block.index, successor, condition=condition(flow, block, successor))
    return graph
