"""Run one CTA of a kernel."""

from __future__ import annotations

from ..ptx.ir import Function, Module
from .calls import Trap
from .cta import Cta
from .launch import Launch
from .layout import Layout
from .machine import Machine
from .observer import Observer
from .result import Fault, FaultError, Result, Unsupported
from .schedule import Scheduler


def run(
    module: Module, kernel: Function, launch: Launch, observer: Observer | None = None
) -> Result:
    """Run one CTA of ``kernel``; whatever happens is in the result.

    Raises ValueError for a launch that makes no sense: an unknown schedule, no threads or more
    than 1024, a function without a body.
    """
    if launch.schedule not in ("reconverge", "lane", "random"):
        raise ValueError(f"no such schedule: {launch.schedule}")
    if not 0 < launch.threads <= 1024 or kernel.body is None:
        raise ValueError("a launch has 1 to 1024 threads and a kernel with a body")
    result = Result()
    try:
        layout = Layout(module, kernel, launch)
    except Unsupported as reason:
        result.status = "unsupported"
        result.waiting.append(str(reason))
        return result
    cta = Cta(layout, launch, result)
    machine = Machine(cta, observer, launch.schedule == "reconverge")
    scheduler = Scheduler(cta, machine, kernel)
    try:
        result.status = scheduler.run()
    except FaultError as error:
        result.status = "fault"
        result.fault = _fault(machine, error)
    except Trap:
        result.status = "trap"
    if result.status in ("done", "steps"):
        cta.copies.finish()
    result.steps = cta.steps
    result.executed = len(machine.executed)
    for name, region in layout.buffers.items():
        marks = region.undefined or bytes(len(region.data))
        result.buffers[name] = (bytes(region.data), bytes(marks))
    return result


def _fault(machine: Machine, error: FaultError) -> Fault:
    assert machine.at is not None
    warp, group = machine.at
    return Fault(
        error.kind,
        group.frame.code.function.name,
        group.pc,
        warp.thread(error.lane),
        error.space,
        error.address,
        error.width,
        error.why,
    )
