"""The whole graph: exact on a hand-written kernel, consistent and linear on the corpus."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from ptxlint.analysis.dependence.graph import dependence
from ptxlint.analysis.dependence.memory import memory_edges
from ptxlint.analysis.facts import Facts
from ptxlint.analysis.flow.graph import control_flow
from ptxlint.analysis.flow.registers import RegisterUse, register_use
from ptxlint.engine.options import Options
from ptxlint.ptx import parse
from ptxlint.ptx.ir import Function

from ..memory.snippets import CORPUS, ROOT, corpus, kernel

BODY = """ld.param.u64 %rd1, [a];
mov.u32 %r1, %tid.x;
setp.lt.u32 %p1, %r1, 8;
add.cc.u32 %r2, %r1, 1;
@%p1 addc.u32 %r2, %r2, 0;
@!%p1 bra L;
st.global.u32 [%rd1], %r2;
bar.sync 0;
ld.global.u32 %r3, [%rd1];
L:"""
EDGES = {
    "data": "0>6 %rd1, 0>8 %rd1, 1>2 %r1, 1>3 %r1, 3>4 %r2, 3>6 %r2, 4>6 %r2",
    "predicate": "2>4 %p1, 2>5 %p1",
    "carry": "3>4 CC.CF",
    "memory": "6>8 RAW proven",
    "barrier": "6>7, 7>8",
    "control": "5>6 False, 5>7 False, 5>8 False",
}


def test_a_small_kernel() -> None:
    function, facts = kernel(BODY)
    graph = facts.dependence(function)
    found: dict[str, list[tuple[int, int, str]]] = {}
    for source, target, edge in graph.edges(data=True):
        detail = edge.get("register") or f"{edge.get('hazard', '')} {edge.get('alias', '')}".strip()
        if "taken" in edge:
            detail = str(edge["taken"])
        found.setdefault(edge["kind"], []).append((source, target, detail))
    shown = {
        kind: ", ".join(f"{s}>{t} {text}".strip() for s, t, text in sorted(rows))
        for kind, rows in found.items()
    }
    assert shown == EDGES
    assert graph.nodes[6] == {
        "opcode": "st.global.u32",
        "text": "st.global.u32 [%rd1], %r2;",
        "block": 1,
        "line": facts.module.source.line_of(function.instructions[6].start),
        "kernel": "k",
    }
    assert facts.dependence(function) is graph


def test_values_of_a_loop() -> None:
    function, facts = kernel(
        "mov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 9;\n@%p1 bra L;\n"
        "st.shared.u32 [tile], %r1;"
    )
    graph = facts.dependence(function)
    data = {(s, t) for s, t, e in graph.edges(data=True) if e["kind"] == "data"}
    assert data == {(0, 1), (1, 1), (1, 2), (1, 4)}
    control = {(s, t) for s, t, e in graph.edges(data=True) if e["kind"] == "control"}
    assert control == {(3, 1), (3, 2)}


def test_networkx_is_loaded_only_for_the_graph() -> None:
    code = (
        "import sys, ptxlint.analysis.dependence.graph, ptxlint.analysis.dependence.ordering;"
        "sys.exit('networkx' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


@pytest.mark.parametrize("path", CORPUS, ids=lambda p: str(p.relative_to(ROOT / "corpus")))
def test_registers_agree_with_reaching_definitions(path: Path) -> None:
    """Against the textbook's data flow, which knows nothing of single assignment."""
    functions, facts = corpus(path)
    for function in functions:
        graph = dependence(function, facts)
        use = facts.once(function, register_use)
        numbers = {use.name(number): number for number in range(len(use.registers))}
        found: dict[tuple[int, int], set[int]] = {}
        for source, target, edge in graph.edges(data=True):
            if edge["kind"] in ("data", "predicate", "carry"):
                assert use.writes[source] and edge["register"] in numbers
                found.setdefault((target, numbers[edge["register"]]), set()).add(source)
        wanted = reaching(function, facts, use)
        if len(numbers) < len(use.registers):  # one name in several scopes
            continue
        for key, sources in wanted.items():
            if any(use.guards[source] >= 0 for source in sources):
                assert found.get(key, set()) <= sources
            else:
                assert found.get(key, set()) == sources, key


def reaching(function: Function, facts: Facts, use: RegisterUse) -> dict[tuple[int, int], set[int]]:
    """For each (instruction, register) read in reachable code, the writes that reach it."""
    flow = facts.once(function, control_flow)
    entries: list[dict[int, set[int]]] = [{} for _ in flow.blocks]
    found: dict[tuple[int, int], set[int]] = {}
    pending = list(flow.order)
    while pending:
        index = pending.pop()
        state = {register: set(sources) for register, sources in entries[index].items()}
        for i in range(flow.blocks[index].start, flow.blocks[index].stop):
            for register in use.reads[i]:
                found[i, register] = set(state.get(register, ()))
            for register in use.writes[i]:
                if use.guards[i] < 0:
                    state[register] = set()
                state.setdefault(register, set()).add(i)
        for successor in flow.blocks[index].successors:
            changed = False
            for register, sources in state.items():
                known = entries[successor].setdefault(register, set())
                changed = changed or not sources <= known
                known |= sources
            if changed and successor not in pending:
                pending.append(successor)
    return found


@pytest.mark.parametrize("path", CORPUS, ids=lambda p: str(p.relative_to(ROOT / "corpus")))
def test_few_memory_edges(path: Path) -> None:
    """The nearest only: a handful for each instruction, also in the largest kernels."""
    functions, facts = corpus(path)
    for function in functions:
        assert len(memory_edges(function, facts)) <= 8 * len(function.instructions)


def test_time_grows_with_the_kernel() -> None:
    """Ten times the loops take about ten times as long; the bound is far above noise."""

    def seconds(loops: int) -> float:
        body = "".join(
            f"L{i}: ld.global.u32 %r2, [%rd1];\nadd.u32 %r1, %r1, %r2;\nadd.s64 %rd1, %rd1, 4;\n"
            f"st.shared.u32 [tile+{i * 4}], %r1;\nsetp.lt.u32 %p1, %r1, 9;\n@%p1 bra L{i};\n"
            for i in range(loops)
        )
        best = float("inf")
        for _ in range(3):
            function, facts = kernel(body)
            began = time.process_time()
            facts.dependence(function)
            best = min(best, time.process_time() - began)
        return best

    seconds(1)  # networkx is loaded
    assert seconds(200) < 60 * seconds(20)


def test_text_with_controls_is_replaced() -> None:
    body = "{ .reg .b32 %r1; mov.u32 /*\x01*/ %r1, 0; } ret;"
    module = parse(f".version 8.0\n.target sm_80\n.entry k() {{ {body} }}", "x")
    function = module.functions[0]
    texts = [n["text"] for _, n in Facts(module, Options()).dependence(function).nodes(data=True)]
    assert texts[0].isprintable()
