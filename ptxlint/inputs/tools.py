"""Where NVIDIA's tools are, if they are anywhere."""

from __future__ import annotations

import glob
import os
import shutil
import sys
from functools import cache


@cache
def ptxas(given: str | None = None) -> str | None:
    """ptxas: as given, $PTXAS, the one beside this Python, that of $CUDA_HOME, that on PATH; None
    where there is none.
    """
    candidates = [given, os.environ.get("PTXAS")]
    for folder in sys.path:
        candidates += sorted(glob.glob(f"{folder}/nvidia/*/bin/ptxas"), reverse=True)
    if home := os.environ.get("CUDA_HOME"):
        candidates.append(f"{home}/bin/ptxas")
    candidates.append("ptxas")
    return next((found for name in candidates if name and (found := shutil.which(name))), None)
