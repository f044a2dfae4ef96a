"""``ptxlint resources --output-format html``: one page that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from .. import __version__
from .resources_gpus import Gpu, Registers
from .resources_rows import FileRow, KernelRow

_STYLE = """
body { font: 14px/1.4 system-ui, sans-serif; margin: 2em; color: #222; background: #fff }
table { border-collapse: collapse; margin: .5em 0 2em }
th, td { padding: .3em .7em; text-align: left }
th { border-bottom: 2px solid #888; white-space: nowrap }
td { border-bottom: 1px solid #ddd }
td.number { text-align: right; font-variant-numeric: tabular-nums }
td.name { font-family: monospace }
.bar { display: inline-block; width: 6em; height: .7em; background: #ddd; margin-right: .5em }
.bar i { display: block; height: 100%; background: #4a8 }
.fails { color: #b00; font-weight: bold }
.estimate, small { color: #666 }
.spills { color: #b60 }
small { display: block }
@media (prefers-color-scheme: dark) {
  body { color: #ddd; background: #1b1b1b }
  th { border-color: #777 } td { border-color: #444 }
  .bar { background: #444 } .estimate, small { color: #999 }
}
"""
_HEAD = ("kernel", "registers", "spills", "shared", "local", "parameters", "barriers")


def text(rows: Sequence[FileRow]) -> str:
    """The page: a table for each file, a row for each kernel, a column for each target."""
    body = "\n".join(line for row in rows for line in _file(row))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>ptxlint resources</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>Resources</h1>\n{body}\n<small>ptxlint {escape(__version__)}. Registers in grey are"
        " estimated from the text, with their interval; a block of 256 threads is taken where a"
        " question mark stands.</small>\n</body>\n</html>\n"
    )


def _file(row: FileRow) -> Iterator[str]:
    target = f" ({escape(row.target)})" if row.target else ""
    yield f"<h2>{escape(row.name)}{target}</h2>"
    if not row.kernels:
        yield "<p>no kernels</p>"
        return
    targets = [gpu.target for gpu in row.kernels[0].gpus]
    heads = "".join(f"<th>{escape(name)}</th>" for name in (*_HEAD, *targets))
    yield f"<table>\n<thead><tr>{heads}</tr></thead>\n<tbody>"
    for kernel in row.kernels:
        yield f"<tr>{''.join(_cells(kernel))}</tr>"
    yield "</tbody>\n</table>"


def _cells(kernel: KernelRow) -> Iterator[str]:
    name = kernel.demangled
    mangled = f"<small>{escape(kernel.name)}</small>" if name != kernel.name else ""
    yield f'<td class="name">{escape(name)}{mangled}</td>'
    yield from _registers(kernel.registers)
    text, machine = kernel.text, kernel.machine
    if text is not None:
        ids = ", ".join(map(str, text.barriers.ids)) + (" ?" if text.barriers.open else "")
        dynamic = " + dynamic" if text.dynamic else ""
        yield _number(f"{text.shared:,}{dynamic}")
        yield _number(f"{text.local:,}")
        yield _number(f"{text.parameters:,}")
        yield _number(ids or "0")
    elif machine is not None:
        yield _number(f"{machine.shared:,}")
        yield _number("?" if machine.stack is None else f"{machine.stack:,}")
        yield _number(f"{machine.parameters_size:,}")
        yield _number(str(machine.barriers))
    for gpu in kernel.gpus:
        yield f"<td>{_gpu(gpu)}</td>"


def _number(value: str) -> str:
    return f'<td class="number">{escape(value)}</td>'


def _registers(found: Registers | None) -> Iterator[str]:
    if found is None:
        yield _number("")
        yield _number("")
    elif found.exact:
        yield _number(str(found.middle))
        spills = found.spills
        if spills is None:
            yield _number("")
        elif spills.stores or spills.loads:
            yield f'<td class="number spills">{spills.stores:,} + {spills.loads:,} B</td>'
        else:
            yield _number("0")
    else:
        yield f'<td class="number estimate">~{found.middle} ({found.low}–{found.high})</td>'
        yield _number("")


def _gpu(gpu: Gpu) -> str:
    found, launch = gpu.found, gpu.launch
    if found is None:
        return "no limits known"
    if gpu.failure is not None:
        return (
            f'<span class="fails">fails with {gpu.failure.code}</span>'
            f"<small>{escape(gpu.failure.why)}</small>"
        )
    share = round(100 * found.share)
    taken = "" if launch.source else "?"
    more = "".join(
        f"<br>{step.resource} ≤ {step.value:,}: {100 * step.warps // found.most_warps} %"
        for step in gpu.steps
    )
    return (
        f'<span class="bar"><i style="width:{share}%"></i></span>{share} %'
        f"<small>{found.blocks} × {launch.threads}{taken} threads, by"
        f" {escape(' and '.join(found.limiter))}{more}</small>"
    )
