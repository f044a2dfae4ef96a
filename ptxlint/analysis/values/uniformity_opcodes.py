"""How each instruction's result follows from its sources, lane by lane or across the warp."""

from __future__ import annotations

from ...ptx.ir import Opcode

# Each lane's result is a function of its own sources, and of nothing else.
OWN_SOURCES = frozenset(
    [
        "abs",
        "add",
        "and",
        "bfe",
        "bfi",
        "bfind",
        "bmsk",
        "brev",
        "clz",
        "cnot",
        "copysign",
        "cos",
        "cvt",
        "cvta",
        "div",
        "dp2a",
        "dp4a",
        "ex2",
        "fma",
        "fns",
        "getctarank",
        "isspacep",
        "lg2",
        "lop3",
        "mad",
        "mad24",
        "mapa",
        "max",
        "min",
        "mov",
        "mul",
        "mul24",
        "neg",
        "not",
        "or",
        "popc",
        "prmt",
        "rcp",
        "rem",
        "rsqrt",
        "sad",
        "selp",
        "set",
        "setp",
        "shf",
        "shl",
        "shr",
        "sin",
        "slct",
        "sqrt",
        "sub",
        "szext",
        "tanh",
        "testp",
        "vabsdiff",
        "vabsdiff2",
        "vabsdiff4",
        "vadd",
        "vadd2",
        "vadd4",
        "vavrg2",
        "vavrg4",
        "vmad",
        "vmax",
        "vmax2",
        "vmax4",
        "vmin",
        "vmin2",
        "vmin4",
        "vset",
        "vset2",
        "vset4",
        "vshl",
        "vshr",
        "vsub",
        "vsub2",
        "vsub4",
        "xor",
        "addc",
        "subc",
        "madc",
    ]
)
# What other threads, or the hardware, may write between two lanes' reads.
_STRONG = frozenset({"volatile", "relaxed", "acquire", "mmio"})

UNKNOWN, OWN, LOAD, CONSTANT_LOAD, PARAMETER_LOAD, SHUFFLE, VOTE, ACTIVE, RED = range(9)


class Kind:
    """What an opcode does: ``how`` is one of the kinds above."""

    __slots__ = ("how", "mnemonic")

    def __init__(self, opcode: Opcode) -> None:
        self.mnemonic = opcode.mnemonic
        self.how = _how(opcode.mnemonic, opcode.modifiers)


def _how(mnemonic: str, modifiers: tuple[str, ...]) -> int:
    if mnemonic == "cvta" and "local" in modifiers:
        return UNKNOWN  # each thread has its own window
    if mnemonic in OWN_SOURCES:
        return OWN
    if mnemonic in ("ld", "ldu"):
        return _load(modifiers)
    if mnemonic == "shfl":
        return SHUFFLE if "idx" in modifiers else UNKNOWN
    if mnemonic == "activemask":
        return ACTIVE
    if mnemonic in ("vote", "redux") or (mnemonic == "match" and "all" in modifiers):
        return VOTE
    if mnemonic in ("bar", "barrier") and "red" in modifiers:
        return RED
    return UNKNOWN


def _load(modifiers: tuple[str, ...]) -> int:
    spaces = {m.split("::")[0] for m in modifiers}
    if _STRONG & spaces:
        return UNKNOWN
    if "param" in spaces:
        return PARAMETER_LOAD
    if "const" in spaces:
        return CONSTANT_LOAD
    return LOAD if spaces & {"global", "shared"} else UNKNOWN


# --- special registers ---------------------------------------------------------------------------

_OF_BLOCK: tuple[str, ...] = (
    "ctaid",
    "nctaid",
    "ntid",
    "nwarpid",
    "clusterid",
    "nclusterid",
    "cluster_",
    "gridid",
)
_OF_BLOCK += ("envreg", "dynamic_smem", "total_smem", "aggr_smem", "reserved_smem", "nsmid")
_OF_BLOCK += ("is_explicit_cluster", "current_graph_exec")
_OF_WARP = frozenset({"%warpid", "%smid"})


def special_level(name: str) -> int:
    """0: the same in the whole block; 1: in a warp; 2: neither, or it depends on the shape."""
    if name[1:].startswith(_OF_BLOCK):
        return 0
    return 1 if name in _OF_WARP else 2
