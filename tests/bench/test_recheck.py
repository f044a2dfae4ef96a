"""The instruction table and ptxas agree, on some spellings of every group."""

from __future__ import annotations

import pytest

from bench import common, recheck


@pytest.mark.skipif(common.ptxas() is None, reason="needs ptxas")
def test_ptxas_takes_what_the_table_has() -> None:
    tool = common.ptxas()
    assert tool is not None
    wanted, left_out = recheck.lines(each=1, seed=5)
    assert len(wanted) > 1000
    assert left_out < 250
    refused = recheck.judge(tool, [(line, "9.5") for line in wanted])
    assert refused == {}


@pytest.mark.skipif(common.ptxas() is None, reason="needs ptxas")
def test_ptxas_refuses_one_version_earlier() -> None:
    tool = common.ptxas()
    assert tool is not None
    wanted, _ = recheck.lines(each=1, seed=6)
    dated = [(line, version) for line in wanted if (version := recheck.version_before(line))]
    refused = recheck.judge(tool, dated)
    taken = [line.text for line, _ in dated if line not in refused]
    assert taken == []


def test_a_pattern_becomes_operands() -> None:
    numbers = recheck.counter()
    chosen = {"type": "bf16x2"}
    made = [recheck.operand(p, chosen, numbers) for p in ("d:<type>*2", "[a:b64]", "imm=5", "*")]
    assert made == ["{%b32_0,%b32_1}", "[%b64_2]", "5", None]
