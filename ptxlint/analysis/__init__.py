"""Pure functions of the IR, each computed once and on demand."""

from .facts import Facts as Facts
