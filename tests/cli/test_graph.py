"""What graph prints, in each format, and its exit statuses."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from ptxlint.analysis.facts import Facts
from ptxlint.engine.options import Options
from ptxlint.ptx import parse
from ptxlint.report.graph_dot import quoted
from ptxlint.report.graph_graphml import block_graph

from .conftest import HEAD, ROOT, Run

CORPUS = ROOT / "corpus" / "ptx" / "sm_80"
ONE = HEAD + (
    ".visible .entry _Z1fPi(.param .u64 p)\n{\n.reg .b64 %rd<2>;\n.reg .b32 %r<3>;\n"
    ".reg .pred %p<3>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, 0;\n"
    "$L_0:\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 9;\n@%p1 bra $L_0;\n"
    "@!%p1 bra $L_1;\nst.global.u32 [%rd1], %r1;\n$L_1:\nret;\nmov.u32 %r2, 1;\n}\n"
)
TWO = ONE + ".func helper() { ret; }\n.visible .entry g() { @%p bra L; L: ret; }\n".replace(
    "@%p bra L; L:", ".reg .pred %p; @%p bra L; L:"
)
TEXT = """\
kernel f(int*): 6 blocks, 1 loop, 9 instructions
  block 0: entry
       9  ld.param.u64 %rd1, [p];
      10  mov.u32 %r1, 0;
          → 1
  block 1 $L_0: head of its loop, loop depth 1; dominated by 0; from 0, 1
      12  add.u32 %r1, %r1, 1;
      13  setp.lt.u32 %p1, %r1, 9;
      14  @%p1 bra $L_0;
          → 2 if !%p1; 1 if %p1
  block 2: dominated by 1; from 1
      15  @!%p1 bra $L_1;
          → 3 if %p1; 4 if !%p1
  block 3: dominated by 2; from 2
      16  st.global.u32 [%rd1], %r1;
          → 4
  block 4 $L_1: dominated by 2; from 2, 3
      18  ret;
          → out
  block 5: can't be reached
      19  mov.u32 %r2, 1;
          → out
"""


@pytest.fixture(autouse=True)
def texts(tmp_path: Path) -> None:
    (tmp_path / "a.ptx").write_text(ONE)
    (tmp_path / "two.ptx").write_text(TWO)


def test_control_flow_as_text(run: Run) -> None:
    done = run("graph", "a.ptx")
    assert (done.returncode, done.stdout, done.stderr) == (0, TEXT, "1 kernel\n")
    assert run("graph", "-q", "-", stdin=ONE).stdout == TEXT
    assert run("graph", "-q", "a.ptx").stderr == ""


def test_dependences_as_text(run: Run) -> None:
    lines = run("graph", "a.ptx", "--kind", "dependence").stdout.splitlines()
    assert lines[0] == "kernel f(int*): 9 instructions, 10 dependences"
    at = lines.index("     6  line 16  st.global.u32 [%rd1], %r1;")
    assert lines[at + 1 : at + 3] == [
        "          data: 0 %rd1, 2 %r1",
        "          control: 5 not taken",
    ]


def test_selection(run: Run) -> None:
    def heads(*words: str) -> list[str]:
        lines = run("graph", "two.ptx", *words).stdout.splitlines()
        return [line.split(":")[0] for line in lines if line.startswith(("kernel", "function"))]

    assert heads() == ["kernel f(int*)", "kernel g"]
    assert heads("--kernel", "_Z*") == heads("--kernel", "f(*") == ["kernel f(int*)"]
    assert heads("--kernel", "help*", "--kernel", "g") == ["function helper", "kernel g"]
    done = run("graph", "two.ptx", "--kernel", "*", "--color", "never")
    assert done.stderr == "2 kernels, 1 function\n"


def test_nothing_to_draw(run: Run, tmp_path: Path) -> None:
    done = run("graph", "two.ptx", "--kernel", "nosuch")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "ptxlint: error: no kernel or function matches 'nosuch'\n"
    (tmp_path / "none.ptx").write_text(HEAD)
    assert run("graph", "none.ptx").stderr.count("\n") == 1
    assert run("graph", "none.ptx").returncode == 2


def test_files_that_are_no_ptx(run: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.ptx").write_text(ONE.replace("mov.u32 %r1, 0;", "mov.u32 %r1,, 0;"))
    done = run("graph", "bad.ptx")
    assert done.returncode == 2
    assert done.stderr.startswith("ptxlint: bad.ptx: not all of it is PTX (line 10)")
    assert run("graph", "missing.ptx").returncode == 2


def test_dot(run: Run) -> None:
    text = run("graph", "two.ptx", "--output-format", "dot").stdout
    assert text.count("digraph ") == 2
    assert text.startswith('digraph "_Z1fPi" {\n  graph [label="kernel f(int*)", labelloc="t"];\n')
    assert '  b1 [label="block 1 $L_0\\l12: add.u32 %r1, %r1, 1;\\l13:' in text
    assert '  b1 -> b2 [label="!%p1"];\n' in text
    assert '@!%p1 bra $L_1;\\l"];' in text
    assert '19: mov.u32 %r2, 1;\\l", style="dashed"];' in text
    edges = run("graph", "a.ptx", "--output-format", "dot", "--kind", "dependence").stdout
    assert '  i0 -> i6 [label="%rd1"];\n' in edges
    assert '  i5 -> i6 [color="gray", style="dashed"];\n' in edges


def test_dot_strings() -> None:
    assert quoted('a "b" \\ c\nd\n') == '"a \\"b\\" \\\\ c\\ld\\l"'


@pytest.mark.parametrize("name", ["jump_table", "gemm_pipeline", "checked_call.debug"])
def test_graphml_is_read_back_equal(run: Run, name: str) -> None:
    import networkx
    from networkx.readwrite.graphml import GraphMLReader

    path = CORPUS / f"{name}.ptx"
    module = parse(path.read_text(), str(path))
    facts = Facts(module, Options())
    for kind, made in (
        ("cfg", [block_graph(f, facts) for f in module.kernels]),
        ("dependence", [facts.dependence(f) for f in module.kernels]),
    ):
        text = run("graph", "--output-format", "graphml", "--kind", kind, str(path)).stdout
        many = kind == "dependence"
        reader = GraphMLReader(node_type=int, edge_key_type=int, force_multigraph=many)
        read = list(reader(path=io.BytesIO(text.encode())))
        assert len(read) == len(made) > 0
        for ours, theirs in zip(made, read, strict=True):
            assert type(ours) is type(theirs)
            assert ours.graph == {k: v for k, v in theirs.graph.items() if k in ours.graph}
            assert networkx.utils.graphs_equal(
                networkx.create_empty_copy(ours, with_data=False),
                networkx.create_empty_copy(theirs, with_data=False),
            )
            assert dict(ours.nodes(data=True)) == dict(theirs.nodes(data=True))
            assert rows(ours) == rows(theirs)


def rows(graph: object) -> list[tuple[int, int, list[tuple[str, object]]]]:
    edges = graph.edges(data=True)  # type: ignore[attr-defined]
    return sorted(
        (source, target, sorted((k, v) for k, v in data.items() if k != "id"))
        for source, target, data in edges
    )


def test_output_file(run: Run, tmp_path: Path) -> None:
    done = run("graph", "a.ptx", "-o", "out.txt", "--color", "always")
    assert (done.returncode, done.stdout) == (0, "")
    assert (tmp_path / "out.txt").read_text() == TEXT
    done = run("graph", "a.ptx", "--output", "no/such/folder")
    assert done.returncode == 2
    assert done.stderr.startswith("ptxlint: no/such/folder: can't be written")


def test_color(run: Run) -> None:
    assert "\x1b[" in run("graph", "a.ptx", "--color", "always").stdout
    assert "\x1b[" not in run("graph", "a.ptx").stdout


def test_svg_without_graphviz(run: Run, tmp_path: Path) -> None:
    done = run("graph", "a.ptx", "--output-format", "svg", env={"PATH": str(tmp_path)})
    assert done.returncode == 2
    assert done.stderr.startswith("ptxlint: error: svg needs Graphviz's `dot`")
    done = run("graph", "two.ptx", "--output-format", "svg")
    assert done.returncode == 2
    assert "use --kernel" in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="a script as program")
def test_svg(run: Run, tmp_path: Path) -> None:
    """dot gets the DOT text on standard input; what it prints comes out, and what it says too."""
    tool = tmp_path / "dot"
    tool.write_text('#!/bin/sh\necho "<svg $1>"\nexec cat\n')
    tool.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = run("graph", "a.ptx", "--output-format", "svg", env={"PATH": path})
    assert done.returncode == 0
    assert done.stdout.startswith("<svg -Tsvg>\ndigraph ")
    tool.write_text("#!/bin/sh\necho no such font >&2\nexit 1\n")
    done = run("graph", "a.ptx", "--output-format", "svg", env={"PATH": path})
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "ptxlint: error: dot failed: no such font\n"
