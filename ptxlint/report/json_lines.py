"""One JSON object a line, one line a finding: each is a diagnostic of the JSON report."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ..model import FileReport
from . import Context
from .json_object import diagnostics


def render(reports: Sequence[FileReport], context: Context) -> str:
    """The lines of all findings, the suppressed ones included and marked."""
    return "".join(json.dumps(item) + "\n" for item in diagnostics(reports))
