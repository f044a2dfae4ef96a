"""An interpreter for PTX kernels: the oracle that static claims are held against.

It reads the IR alone. ``run`` executes one CTA of a kernel, lane by lane and bit by bit, and
tracks which bits are undefined.
"""

from .launch import Buffer, Launch
from .observer import Observer, Step
from .result import Fault, Result, Unsupported
from .run import run

__all__ = ["Buffer", "Fault", "Launch", "Observer", "Result", "Step", "Unsupported", "run"]
