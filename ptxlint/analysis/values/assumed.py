"""What a pattern may rest on, as bits, and the words for it."""

from __future__ import annotations

from .. import launch

NO_WRAP, ONE_DIMENSION, ROWS_OF_32, ROWS_OF_16, WHOLE_WARPS, CONVERGENT, NOT_NEGATIVE, INTERIOR = (
    1 << i for i in range(8)
)

_TEXTS = {
    NO_WRAP: "index arithmetic does not wrap around",
    ONE_DIMENSION: launch.ONE_DIMENSION,
    ROWS_OF_32: launch.WHOLE_WARPS,
    ROWS_OF_16: "blockDim.x is 16",
    WHOLE_WARPS: launch.WHOLE_WARPS,
    CONVERGENT: "the lanes of a warp run shuffles, votes and loads of one address together",
    NOT_NEGATIVE: "indices are not negative",
    INTERIOR: "the warp is not at the border of the data: bound checks agree in all its lanes",
}


def texts(assumptions: int) -> tuple[str, ...]:
    """The assumptions in words, ready to print."""
    return tuple(dict.fromkeys(text for bit, text in _TEXTS.items() if assumptions & bit))
