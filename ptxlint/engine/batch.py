"""Many files: read, linted, remembered; over processes where that pays."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..inputs import InputError, decode, read
from ..inputs.files import STDIN
from ..model import FileReport
from .options import Options
from .selection import selected

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

# Below this many bytes the start of worker processes costs more than it brings.
_WORTH_WORKERS = 2_000_000


class Task(NamedTuple):
    """One file to lint; ``name`` is what it is called in reports."""

    path: str
    name: str
    options: Options
    cached: bool


def lint_files(
    paths: Sequence[str],
    options: Options,
    *,
    jobs: int = 0,
    cached: bool = False,
    stdin_name: str = "<stdin>",
    executor: Executor | None = None,
) -> tuple[list[FileReport], list[InputError]]:
    """Reports in the order of ``paths``, and the files that could not be read.

    ``jobs`` is the number of processes; 0 lets the size of the work decide. An ``executor``
    takes the place of the local pool (its workers see the same files). Raises UsageError
    before anything is read where the options name an unknown rule.
    """
    selected(options)
    tasks = [
        Task(path, stdin_name if path == STDIN else path, options, cached and path != STDIN)
        for path in paths
    ]
    count = jobs or _jobs(paths)
    if executor is not None:
        results = list(executor.map(lint_file, tasks))
    elif count > 1 and len(tasks) > 1:
        results = _in_pool(tasks, min(count, len(tasks)))
    else:
        results = [lint_file(task) for task in tasks]
    reports = [result for result in results if isinstance(result, FileReport)]
    return reports, [result for result in results if isinstance(result, InputError)]


def lint_file(task: Task) -> FileReport | InputError:
    """Read and lint one file; what can't be read comes back as the error, not raised."""
    try:
        content = sys.stdin.buffer.read() if task.path == STDIN else read(task.path)
        text = decode(content, task.name)
    except InputError as error:
        return error
    # The parser is loaded here and not above: what the cache knows needs none.
    if not task.cached:
        from .runner import lint

        return lint(text, task.name, task.options)
    from . import cache

    key = cache.key(content, task.options)
    report = cache.load(key, task.name, text)
    if report is None:
        from .runner import lint

        report = lint(text, task.name, task.options)
        # A rule that failed is to be seen again, with its traceback if that is asked for.
        if all(finding.code != "PTX999" for finding in report.findings):
            cache.store(key, report)
    return report


def _in_pool(tasks: list[Task], jobs: int) -> list[FileReport | InputError]:
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(jobs) as pool:
        try:
            # Standard input is this process's own: workers don't have it.
            futures = [None if t.path == STDIN else pool.submit(lint_file, t) for t in tasks]
            pairs = zip(tasks, futures, strict=True)
            return [lint_file(task) if got is None else _result(task, got) for task, got in pairs]
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _result(task: Task, future: Future[FileReport | InputError]) -> FileReport | InputError:
    from concurrent.futures.process import BrokenProcessPool

    try:
        return future.result()
    except BrokenProcessPool:
        return InputError(task.name, "the worker process that read it died (out of memory?)")


def _jobs(paths: Iterable[str]) -> int:
    if sum(os.path.getsize(path) for path in paths if os.path.isfile(path)) < _WORTH_WORKERS:
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
