"""Paths as given to files to read: directories are searched, patterns honoured."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple

from .text import InputError, reason

STDIN = "-"


class Patterns(NamedTuple):
    """Globs over names and over paths with forward slashes.

    ``include`` says what is taken from directories, ``exclude`` what is not, folders included;
    ``force`` lets ``exclude`` speak of files that were named one by one too.
    """

    include: tuple[str, ...] = ("*.ptx",)
    exclude: tuple[str, ...] = ()
    force: bool = False


def find(paths: Iterable[str], patterns: Patterns) -> tuple[list[str], list[InputError]]:
    """The files to read, each once and in order, and what is wrong with the paths."""
    files: dict[str, None] = {}
    problems: list[InputError] = []
    for path in paths:
        if path == STDIN:
            files[path] = None
        elif os.path.isdir(path):
            before = len(problems)
            inside = list(_search(path, patterns, problems))
            files.update(dict.fromkeys(inside))
            if not inside and len(problems) == before:
                wanted = ", ".join(patterns.include)
                problems.append(InputError(path, f"no file in this directory matches {wanted}"))
        elif not os.path.lexists(path):
            problems.append(InputError(path, "no such file or directory"))
        elif not (patterns.force and _excluded(path, patterns)):
            files[path] = None
    return list(files), problems


def _search(root: str, patterns: Patterns, problems: list[InputError]) -> Iterable[str]:
    """Files under a directory, by name; hidden folders are not entered, links not followed."""

    def unreadable(error: OSError) -> None:
        problems.append(InputError(str(error.filename or root), reason(error)))

    for at, folders, names in os.walk(root, onerror=unreadable):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and not _excluded(os.path.join(at, name), patterns, root)
        )
        for name in sorted(names):
            path = os.path.join(at, name)
            if _matches(path, patterns.include, root) and not _excluded(path, patterns, root):
                yield path


def _excluded(path: str, patterns: Patterns, root: str | None = None) -> bool:
    return bool(patterns.exclude) and _matches(path, patterns.exclude, root)


def _matches(path: str, globs: tuple[str, ...], root: str | None) -> bool:
    """Whether a glob fits the name, the path, a part of a path as given, or the path below root."""
    from fnmatch import fnmatchcase

    below = os.path.relpath(path)
    whole = (os.path.normpath(path) if below.startswith("..") else below).replace(os.sep, "/")
    texts = {whole, os.path.basename(path)}
    if root is None:
        texts.update(whole.split("/"))
    else:
        texts.add(os.path.relpath(path, root).replace(os.sep, "/"))
    return any(fnmatchcase(text, glob.rstrip("/")) for glob in globs for text in texts)
