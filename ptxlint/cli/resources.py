"""``ptxlint resources FILE…``: what each kernel takes, and how it uses memory."""

from __future__ import annotations

import shutil
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from ..analysis.facts import Facts
from ..engine.demangle import demangle
from ..engine.options import Options, UsageError
from ..engine.options import target as _target
from ..engine.origin import Origins
from ..inputs import (
    InputError,
    Patterns,
    decode,
    find,
    is_container,
    is_container_file,
    metadata,
    read,
    tools,
    write,
)
from ..inputs.cubin import Cubin
from ..inputs.images import CUBIN, PTX, Image, Inputs, open_inputs
from ..inputs.ptxas import assembled
from ..inputs.source import Damaged, Source
from ..ptx import parse
from ..report import resources_csv, resources_html, resources_json, resources_text
from ..report.resources_gate import (
    NAMES,
    Baseline,
    Condition,
    baseline_text,
    condition,
    line,
    violations,
)
from ..report.resources_rows import Asked, FileRow, counted, cubin_row, ptx_row
from ..report.summary import plural
from .arguments import Parser
from .color import wanted
from .main import FOUND, TROUBLE, complain

_OLDEST = "sm_75"  # that today's ptxas takes
_FORMATS = ("text", "json", "csv", "html")
_STDIN = "-"
Found = Iterator["FileRow | InputError"]


def run(words: Sequence[str]) -> int:
    """The exit status of ``resources`` with these arguments."""
    # --ptxas alone looks for it; a path comes after an equals sign, as a file may follow.
    flags = _parser().parse(["--ptxas=" if word == "--ptxas" else word for word in words])
    targets = [_target(name) for name in (flags.target or "").split(",") if name]
    options = Options.of(target=targets[0] if targets else None, block=flags.block)
    asked = Asked(tuple(targets), flags.dynamic_shared)
    tool = _tool(flags.ptxas)
    conditions = [condition(text) for text in flags.fail_if]
    if (flags.baseline or flags.write_baseline) and not conditions:
        raise UsageError("a baseline is for --fail-if")
    files, problems = find(flags.paths, Patterns())
    rows: list[FileRow] = []
    for name in files:
        for found in _of_file(name, options, flags, asked, tool):
            if isinstance(found, InputError):
                problems.append(found)
            else:
                rows.append(found)
                if found.parsed != "full":
                    problems.append(InputError(found.name, _PARTIAL))
    kernels, count = counted(rows)
    if flags.kernel and not kernels and not problems:
        raise UsageError(f"no kernel matches {', '.join(map(repr, flags.kernel))}")
    try:
        _put(flags, rows)
    except InputError as error:
        problems.append(error)
    for problem in problems:
        complain(str(problem))
    failed = _gate(flags, rows, conditions, problems)
    if not flags.quiet and rows:
        files_word = f"{count} {plural(count, 'file')}"
        print(f"{kernels} {plural(kernels, 'kernel')} in {files_word}", file=sys.stderr)
    return TROUBLE if problems else FOUND if failed else 0


_PARTIAL = "not all of it is PTX, and its kernels may take more: ptxlint check says where"


def _of_file(
    name: str, options: Options, flags: Namespace, asked: Asked, tool: str | None
) -> Found:
    """The rows of a file, one for each image, or why it can't be read."""
    try:
        if is_container_file(name):
            yield from _binary(open_inputs(name), options, flags, asked, tool)
            return
        content = sys.stdin.buffer.read() if name == _STDIN else read(name)
        if is_container(content):
            yield from _binary(Inputs(Source(content), name), options, flags, asked, tool)
            return
        if name != _STDIN and options.block is None:
            options = replace(options, metadata=metadata(name))
        yield _text(content, FileRow(name, None, PTX, None), options, flags, asked, tool)
    except InputError as error:
        yield error


def _binary(
    inside: Inputs, options: Options, flags: Namespace, asked: Asked, tool: str | None
) -> Found:
    for image in inside:
        if image.kind in (PTX, CUBIN):
            yield _image(image, options, flags, asked, tool)
    yield from inside.problems


def _image(
    image: Image, options: Options, flags: Namespace, asked: Asked, tool: str | None
) -> FileRow | InputError:
    target = image.target if image.sm else None
    row = FileRow(image.path, image.member, image.kind, target)
    try:
        if image.kind == PTX:
            return _text(image.load(), row, options, flags, asked, tool)
        kernels = Cubin(image.load()).kernels
    except InputError as error:
        return error
    except Damaged as error:
        return InputError(image.name, str(error))
    row.kernels = [
        cubin_row(k, image.target, options.block, asked) for k in kernels if _wanted(k.name, flags)
    ]
    return row


def _text(
    content: bytes,
    row: FileRow,
    options: Options,
    flags: Namespace,
    asked: Asked,
    tool: str | None,
) -> FileRow:
    text = decode(content, row.name)
    module = parse(text, row.name)
    facts = Facts(module, options)
    row.target, row.parsed = module.target, "full" if module.parsed == "full" else "partial"
    origins = Origins(module) if flags.verbose else None
    if tool is not None:
        made = assembled(text, row.name, facts.target or _OLDEST, tool)
        asked = asked._replace(made=made)
    row.kernels = [
        ptx_row(k, facts, origins, asked) for k in module.kernels if _wanted(k.name, flags)
    ]
    return row


def _tool(given: str | None) -> str | None:
    """ptxas where ``--ptxas`` asks for it; raises UsageError where there is none."""
    if given is None:
        return None
    found = shutil.which(given) if given else tools.ptxas()
    if found is None:
        looked = f"at {given}" if given else "beside Python, in $PTXAS, $CUDA_HOME or PATH"
        raise UsageError(f"no ptxas {looked} (--ptxas=PATH says where)")
    return found


def _wanted(name: str, flags: Namespace) -> bool:
    """Whether ``--kernel`` takes a kernel, by its mangled name or the other."""
    patterns: list[str] = flags.kernel
    return not patterns or any(
        fnmatchcase(name, pattern) or fnmatchcase(demangle(name), pattern) for pattern in patterns
    )


def _gate(
    flags: Namespace,
    rows: list[FileRow],
    conditions: list[Condition],
    problems: list[InputError],
) -> bool:
    """Whether a kernel meets a condition of ``--fail-if`` that no baseline excuses; says which."""
    found = violations(rows, conditions)
    try:
        if flags.write_baseline:
            write(flags.write_baseline, baseline_text(found))
            return False
        known = Baseline.read(flags.baseline) if flags.baseline else None
    except InputError as error:
        complain(str(error))
        problems.append(error)
        return False
    if known is not None:
        found = [each for each in found if not known.covers(each)]
        if stale := known.stale(conditions):
            complain(f"{flags.baseline}: no longer needed: {stale} (--write-baseline)")
    for each in found:
        print(line(each), file=sys.stderr)
    return bool(found)


def _put(flags: Namespace, rows: list[FileRow]) -> None:
    if flags.output_format == "json":
        made = resources_json.text(rows)
    elif flags.output_format == "csv":
        made = resources_csv.text(rows)
    elif flags.output_format == "html":
        made = resources_html.text(rows)
    else:
        color = flags.output is None and wanted(flags.color, sys.stdout)
        made = resources_text.text(rows, color)
    if flags.output is None:
        sys.stdout.write(made)
    else:
        write(flags.output, made)


def _parser() -> Parser:
    flags = Parser("resources", "Say what each kernel takes: shared and local memory, bounds.")
    flags.add_argument("paths", nargs="+", metavar="PATH", help="file, directory, or - for stdin")
    flags.add_argument(
        "--kernel",
        action="append",
        default=[],
        metavar="GLOB",
        help="kernels by name, mangled or not (default: all)",
    )
    flags.add_argument(
        "--target", metavar="LIST", help="GPUs (sm_70,sm_80; default: the file's own)"
    )
    flags.add_argument("--block", metavar="X,Y,Z", help="the launch shape in threads")
    flags.add_argument(
        "--dynamic-shared", type=int, default=0, metavar="BYTES", help="that a launch asks for"
    )
    flags.add_argument(
        "--ptxas",
        metavar="PATH",
        help="assemble PTX: exact registers and spills, not estimates (--ptxas=PATH: by this one)",
    )
    flags.add_argument(
        "--fail-if",
        action="append",
        default=[],
        metavar="[GLOB: ]CONDITION",
        help=f"exit status 1 where a kernel has it: registers>128 ({', '.join(NAMES)})",
    )
    flags.add_argument("--baseline", metavar="FILE", help="kernels as bad as there do not fail")
    flags.add_argument("--write-baseline", metavar="FILE", help="write those that fail now")
    flags.add_argument("--output-format", choices=_FORMATS, default="text")
    flags.add_argument("-o", "--output", metavar="FILE", help="write there, not to stdout")
    flags.add_argument("-q", "--quiet", action="store_true", help="no summary")
    flags.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="each memory access of PTX: its address in words, wavefronts or sectors",
    )
    flags.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    flags.add_argument("--isolated", action="store_true", help="read no configuration file")
    return flags
