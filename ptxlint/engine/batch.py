"""Many files: read, linted, remembered; over processes where that pays."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Union

from ..inputs import InputError, decode, is_container, is_container_file, metadata, read
from ..inputs.files import STDIN
from ..model import FileReport
from .options import Options
from .selection import selected

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

    from ..inputs.extractors import Opened

# Below this many bytes the start of worker processes costs more than it brings.
_WORTH_WORKERS = 2_000_000
# How many texts out of binaries are held at once, for each worker.
_AHEAD = 4
_DIED = "the worker process that read it died (out of memory?)"

Result = Union[FileReport, InputError]


class Task(NamedTuple):
    """One text to lint; ``name`` is what its file is called in reports.

    ``content`` is None for a file that is yet to be read; ``member`` is its name in a binary.
    """

    path: str
    name: str
    options: Options
    cached: bool
    content: bytes | None = None
    member: str | None = None


def lint_files(
    paths: Sequence[str],
    options: Options,
    *,
    jobs: int = 0,
    cached: bool = False,
    stdin_name: str = "<stdin>",
    extract_with: str = "native",
    executor: Executor | None = None,
) -> tuple[list[FileReport], list[InputError]]:
    """Reports in the order of ``paths``, and the files that could not be read.

    A binary gives one report for each PTX image in it and one for itself. ``jobs`` is the number
    of processes; 0 lets the size of the work decide. ``extract_with`` names who opens binaries.
    An ``executor`` takes the place of the local pool (its workers see the same files). Raises
    UsageError before anything is read where the options name an unknown rule.
    """
    selected(options)
    work = _work(paths, options, cached, stdin_name, extract_with)
    count = jobs or _jobs(paths)
    if executor is not None:
        results = list(_spread(work, executor, _AHEAD * (os.cpu_count() or 1)))
    elif count > 1 and (len(paths) > 1 or any(map(is_container_file, paths))):
        results = _in_pool(work, count)
    else:
        results = [lint_file(item) if isinstance(item, Task) else item for item in work]
    reports = [result for result in results if isinstance(result, FileReport)]
    return reports, [result for result in results if isinstance(result, InputError)]


def _work(
    paths: Iterable[str], options: Options, cached: bool, stdin_name: str, extract_with: str
) -> Iterator[Task | Result]:
    """What there is to lint, in order, and what is known without: binaries are opened here."""
    for path in paths:
        if path == STDIN:
            # Standard input is this process's own: workers don't have it.
            content = sys.stdin.buffer.read()
            if is_container(content):
                task = Task(path, stdin_name, options, False, content)
                yield from _unfolded(task, extract_with)
            else:
                yield Task(path, stdin_name, options, False, content)
        elif is_container_file(path):
            yield from _unfolded(Task(path, path, options, cached), extract_with)
        else:
            yield Task(path, path, options, cached)


def _unfolded(whole: Task, extract_with: str) -> Iterator[Task | Result]:
    """What is in a binary. Its readers are loaded here and not above: most files are PTX."""
    from ..inputs.extractors import extractor
    from .images import Text, unfold

    try:
        inside = extractor(extract_with)(whole.path) if whole.content is None else _held(whole)
    except InputError as error:
        yield error
        return
    for item in unfold(inside, whole.options):
        if isinstance(item, Text):
            yield whole._replace(options=item.options, content=item.content, member=item.member)
        else:
            yield item


def _held(whole: Task) -> Opened:
    """A binary that came by standard input."""
    from ..inputs.images import Inputs
    from ..inputs.source import Source

    return Inputs(Source(whole.content or b""), whole.name)


def lint_file(task: Task) -> Result:
    """Read and lint one file; what can't be read comes back as the error, not raised."""
    name = task.name if task.member is None else f"{task.name}!{task.member}"
    try:
        content = read(task.path) if task.content is None else task.content
        text = decode(content, name)
    except InputError as error:
        return error
    report = _lint(task, content, text)
    report.member = task.member
    return report


def _lint(task: Task, content: bytes, text: str) -> FileReport:
    options = task.options
    if task.content is None and options.block is None and options.metadata is None:
        beside = metadata(task.path)
        if beside is not None:
            options = replace(options, metadata=beside)
    # The parser is loaded here and not above: what the cache knows needs none.
    if not task.cached:
        from .runner import lint

        return lint(text, task.name, options)
    from . import cache

    key = cache.key(content, options)
    report = cache.load(key, task.name, text)
    if report is None:
        from .runner import lint

        report = lint(text, task.name, options)
        # A rule that failed is to be seen again, with its traceback if that is asked for.
        if all(finding.code != "PTX999" for finding in report.findings):
            cache.store(key, report)
    return report


def _in_pool(work: Iterable[Task | Result], jobs: int) -> list[Result]:
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(jobs) as pool:
        try:
            return list(_spread(work, pool, _AHEAD * jobs))
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _spread(work: Iterable[Task | Result], pool: Executor, ahead: int) -> Iterator[Result]:
    """Results in order; at most ``ahead`` texts wait, so that no library is unpacked at once."""
    from collections import deque

    waiting: deque[tuple[Task, Future[Result]] | Result] = deque()
    held = 0
    for item in work:
        waiting.append(_submitted(item, pool) if isinstance(item, Task) else item)
        held += isinstance(item, Task) and item.content is not None
        while held > ahead:
            first = waiting.popleft()
            held -= isinstance(first, tuple) and first[0].content is not None
            yield _result(first)
    while waiting:
        yield _result(waiting.popleft())


def _submitted(task: Task, pool: Executor) -> tuple[Task, Future[Result]] | Result:
    from concurrent.futures.process import BrokenProcessPool

    try:
        return task, pool.submit(lint_file, task)
    except BrokenProcessPool:
        return InputError(task.name, _DIED)


def _result(item: tuple[Task, Future[Result]] | Result) -> Result:
    from concurrent.futures.process import BrokenProcessPool

    if not isinstance(item, tuple):
        return item
    task, future = item
    try:
        return future.result()
    except BrokenProcessPool:
        return InputError(task.name, _DIED)


def _jobs(paths: Iterable[str]) -> int:
    if sum(os.path.getsize(path) for path in paths if os.path.isfile(path)) < _WORTH_WORKERS:
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
