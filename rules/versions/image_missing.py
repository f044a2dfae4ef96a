"""## What it does

Looks at a binary as a whole, at the PTX and the machine code (cubins) that it holds for each
architecture, and reports what some GPU or driver can't use:

- with `--target`, that nothing in the file runs on this GPU (an error), that only some of it does,
  or that it runs only after the driver has compiled PTX;
- with `--driver`, PTX of a version that this driver does not take;
- PTX without any machine code beside it;
- images for one architecture or family (`sm_90a`, `sm_100f`) with nothing beside them that other
  GPUs could run;
- a cubin that has other kernels than the PTX of the same architecture which it was made from.

## Why it matters

A kernel without an image that fits is no build error: the launch fails on the machine that lacks
it, with `no kernel image is available for execution on the device` (CUDA_ERROR_NO_BINARY_FOR_GPU,
209). PTX in the place of machine code is compiled when the module is loaded, seconds for a large
one, and only by a driver that takes its version. Where PTX and cubin disagree, what runs depends on
the GPU.

## Example

A library with cubins for `sm_80` and `sm_90` and no PTX, checked for a later GPU:

```console
$ ptxlint check --target sm_120 libkernels.so
error[SAS701] image-missing: nothing here runs on sm_120
```

## Fix

Build for the GPU as well, and keep the PTX of the highest plain target for those to come:

```console
$ nvcc -gencode arch=compute_80,code=sm_80 -gencode arch=compute_120,code=[sm_120,compute_120] …
```

## Limits

It goes by the headers of the images. Which kernels a program launches is not known: a container
that holds nothing for the GPU may never be needed there, and is an error only where all of them
are so, and never where there is code to be linked later (LTO). Machine code is taken to run on
later GPUs of its generation, and for the GPUs of Tegra systems on its own only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptxlint.analysis.facts import Settings
from ptxlint.inputs.images import CUBIN, PTX, Image
from ptxlint.inputs.inventory import Inventory, runs_on, target, virtual
from ptxlint.inputs.text import InputError
from ptxlint.isa.targets import Target
from ptxlint.isa.versions import branch, highest_for, text
from ptxlint.model import Finding, Position, Rule, Severity, Span

RULE = Rule(
    code="SAS701",
    name="image-missing",
    category="versions",
    severity=Severity.INFO,
    summary="a binary without code that a GPU or driver could use, or with code out of step",
)

_START = Span(Position(1, 1), Position(1, 1))
_SHOWN = 3


def check_images(inventory: Inventory, options: Settings) -> Iterator[Finding]:
    """What is missing in one file; nothing for a file that is an image itself."""
    containers = inventory.containers()
    if not containers:
        return
    gpu = Target.parse(options.target) if options.target else None
    if gpu is not None:
        linked = any(image.kind not in (CUBIN, PTX) for image in inventory.images)
        yield from _for_gpu(containers, gpu, options.driver, linked)
    if len(inventory.images) == 1 and inventory.images[0].member == inventory.member:
        return
    if gpu is None:
        yield from _ptx_only(containers)
        yield from _too_new(inventory, options.driver)
        yield from _one_architecture(containers)
    yield from _out_of_step(inventory, containers)


def _for_gpu(
    containers: list[list[Image]], gpu: Target, driver: str | None, linked: bool
) -> Iterator[Finding]:
    """What there is for the GPU that was asked about; ``linked``: more may be linked later."""
    usable = [
        [image for image in images if runs_on(image, gpu) and not _above(image, driver)]
        for images in containers
    ]
    lacking = [images for images, found in zip(containers, usable, strict=True) if not found]
    data = {"target": str(gpu), "containers": len(containers), "lacking": len(lacking)}
    every = [image for images in containers for image in images]
    if len(lacking) == len(containers):
        refused = [i for i in every if runs_on(i, gpu)]
        notes = [f"there is {_inside(every)}"]
        if refused:
            notes.append(f"driver {driver} does not take the PTX: {_versions(refused)}")
        yield RULE.finding(
            f"nothing here runs on {gpu}",
            _START,
            severity=Severity.INFO if linked else Severity.ERROR,
            notes=tuple(notes),
            help=f"build for {gpu} too, or keep the PTX of a lower plain target",
            data=data,
        )
        return
    if lacking:
        rest = [image for images in lacking for image in images]
        yield RULE.finding(
            f"{len(lacking)} of {len(containers)} containers hold nothing that runs on {gpu}",
            _START,
            notes=(f"they hold {_inside(rest)}", f"the first is that of {lacking[0][0].member}"),
            data=data,
        )
    compiled = [f for f in usable if f and all(image.kind == PTX for image in f)]
    if compiled:
        which = "all" if len(compiled) == len(usable) else f"{len(compiled)} of {len(usable)}"
        yield RULE.finding(
            f"{gpu} runs {which} of it only by compiling PTX when it is loaded",
            _START,
            notes=(f"there is {_inside(every)}",),
            help=f"build machine code for {gpu} too",
            data={**data, "compiled": len(compiled)},
        )


def _ptx_only(containers: list[list[Image]]) -> Iterator[Finding]:
    every = [image for images in containers for image in images]
    if any(image.kind == CUBIN for image in every):
        return
    yield RULE.finding(
        "PTX only: every GPU compiles it when it is loaded",
        _START,
        notes=(f"there is {_inside(every)}",),
        help="build machine code for the GPUs that it is meant for",
        data={"images": len(every)},
    )


def _too_new(inventory: Inventory, driver: str | None) -> Iterator[Finding]:
    above = [image for image in inventory.ptx if _above(image, driver)]
    if above and inventory.cubins:
        yield RULE.finding(
            f"driver {driver} does not take the PTX here: {_versions(above)}",
            _START,
            notes=(f"GPUs other than {_targets(inventory.cubins)} have nothing they could run",),
            help="ship machine code for them, lower .version, or ask for a newer driver",
            data={"driver": driver, "images": len(above)},
        )


def _one_architecture(containers: list[list[Image]]) -> Iterator[Finding]:
    """Images for one architecture or family where nothing stands in for them elsewhere."""
    alone = [
        image
        for images in containers
        for image in images
        if image.suffix and not any(_stands_in(other, image) for other in images)
    ]
    if alone:
        names = _targets(alone)
        yield RULE.finding(
            f"code for {names} and nothing that later GPUs could run instead",
            _START,
            notes=("`a` code runs on that GPU only, `f` code on its family only",),
            help="keep the PTX of a plain target beside it where the source allows it",
            data={"targets": names.split(", "), "images": len(alone)},
        )


def _stands_in(other: Image, image: Image) -> bool:
    """Whether GPUs that can't run ``image`` could run another image of the container."""
    if other.suffix:
        return False
    return other.kind == PTX or other.sm > image.sm


def _out_of_step(inventory: Inventory, containers: list[list[Image]]) -> Iterator[Finding]:
    """A cubin with other kernels than the PTX that it says it was assembled from."""
    for images in containers:
        sources = {target(image): image for image in images if image.kind == PTX}
        for cubin in images:
            ptx = sources.get(target(cubin))
            if cubin.kind != CUBIN or ptx is None:
                continue
            ours, theirs = inventory.entries(ptx), inventory.entries(cubin)
            if ours is None or theirs is None or ours == theirs or not _made_of(cubin, ptx):
                continue
            notes = []
            if more := ours - theirs:
                notes.append(f"only in the PTX: {_some(more)}")
            if more := theirs - ours:
                notes.append(f"only in the cubin: {_some(more)}")
            yield RULE.finding(
                f"`{cubin.member}` has other kernels than `{ptx.member}`",
                _START,
                notes=tuple(notes),
                help="build both from the same source: which one runs depends on the GPU",
                data={"ptx": ptx.member, "cubin": cubin.member},
            )


def _made_of(cubin: Image, ptx: Image) -> bool:
    """Whether a cubin was assembled from PTX of that target, not from that of a lower one."""
    try:
        return virtual(cubin) == ptx.sm
    except InputError:
        return False


def _above(image: Image, driver: str | None) -> bool:
    """Whether an image is PTX of a version that is above the limit of a driver."""
    number = branch(driver or "")
    if number is None or image.kind != PTX:
        return False
    highest, is_limit = highest_for(number)
    return is_limit and highest is not None and image.version > highest


def _inside(images: list[Image]) -> str:
    """``machine code for sm_80, sm_90 and PTX for sm_90``."""
    cubins = _targets(image for image in images if image.kind == CUBIN)
    ptx = _targets(image for image in images if image.kind == PTX)
    parts = [f"machine code for {cubins}" if cubins else "", f"PTX for {ptx}" if ptx else ""]
    return " and ".join(part for part in parts if part)


def _targets(images: Iterable[Image]) -> str:
    return ", ".join(str(found) for found in sorted({target(image) for image in images}))


def _versions(images: Iterable[Image]) -> str:
    return ", ".join(f"PTX ISA {text(v)}" for v in sorted({image.version for image in images}))


def _some(names: frozenset[str]) -> str:
    shown = sorted(names)[:_SHOWN]
    rest = len(names) - len(shown)
    return ", ".join(f"`{name}`" for name in shown) + (f" and {rest} more" if rest else "")
