"""argparse with short errors: one line, and the flag that was perhaps meant."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

from ..engine.options import did_you_mean
from .main import TROUBLE, complain


class _Formatter(argparse.HelpFormatter):
    """Of a fixed width: asking for the terminal's loads modules at every start, help or not."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=32, width=100)


class Parser(argparse.ArgumentParser):
    """Flags are never abbreviated: what works today would mean something else tomorrow."""

    def __init__(self, command: str, description: str) -> None:
        super().__init__(
            prog=f"ptxlint {command}",
            description=description,
            allow_abbrev=False,
            formatter_class=_Formatter,
        )

    def error(self, message: str) -> NoReturn:
        """Print the line and end with status 2."""
        complain(f"error: {message}")
        sys.exit(TROUBLE)

    def parse(self, words: Sequence[str]) -> argparse.Namespace:
        """As parse_intermixed_args, and says which flag an unknown one resembles."""
        known, unknown = self.parse_known_intermixed_args(words)
        if unknown:
            flag = unknown[0].split("=")[0]
            flags = [name for action in self._actions for name in action.option_strings]
            self.error(f"unknown flag {flag!r}{did_you_mean(flag, flags)}")
        return known


class Join(argparse.Action):
    """A flag that may be repeated and takes a comma-separated list: one list of all."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[object] | None,
        option_string: str | None = None,
    ) -> None:
        items = [item.strip() for item in str(values).split(",") if item.strip()]
        setattr(namespace, self.dest, [*getattr(namespace, self.dest), *items])
