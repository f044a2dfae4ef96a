"""Memory accesses: the space that an address is in, the object that it is of, the place in it."""

from __future__ import annotations

from ptxlint.analysis.memory.access import Access
from ptxlint.analysis.memory.accesses import accesses
from ptxlint.ptx.ir import Address, Function

from .base import Claim, Moment, Subject, Tally, lanes


class Accesses(Claim):
    """An access is in the space and of the object that it is held to be, at the offset if one is
    known.

    One that is in another object may have run out of its own: it counts as assumed.
    """

    kind = "memory accesses"

    def __init__(self, subject: Subject, tally: Tally) -> None:
        super().__init__(subject, tally)
        self._known: dict[Function, dict[int, Access]] = {}

    def after(self, moment: Moment) -> None:
        step = moment.step
        if step.addresses is None:
            return
        known = self._known.get(moment.function)
        if known is None:
            known = self._known[moment.function] = {}
            for each in self.subject.facts.once(moment.function, accesses):
                if isinstance(each.operand, Address):
                    known.setdefault(each.index, each)
        access = known.get(moment.pc)
        if access is None:
            self.claimed(moment.function.name, moment.pc)
            self.wrong(moment.function, moment.instruction, "accesses memory, and was held not to")
            return
        self._space(moment, access)
        if access.base is not None:
            self._object(moment, access)

    def _space(self, moment: Moment, access: Access) -> None:
        space = moment.step.space
        if access.space not in ("global", "shared", "local", "param", "const"):
            return
        self.claimed(moment.function.name, moment.pc, "space")
        # Parameters of a call and of a device function lie in the thread's own memory.
        if space != access.space and not (access.space == "param" and space == "local"):
            detail = f"is in {space or 'several spaces'}, was held to be in {access.space}"
            self.wrong(moment.function, moment.instruction, detail)

    def _object(self, moment: Moment, access: Access) -> None:
        base, warp = access.base, moment.warp
        assert base is not None and warp.storage is not None and moment.step.addresses is not None
        if base.kind not in ("variable", "parameter") or base.variable is None:
            return
        if not moment.function.is_kernel:
            return
        name = str(base)
        self.claimed(moment.function.name, moment.pc, "object")
        for lane in lanes(moment.active):
            place, address = warp.storage.places[lane], moment.step.addresses[lane]
            if place is None or address is None:
                continue
            region, offset = place
            start = 0
            if base.kind == "variable" and base.variable.space in ("shared", "param"):
                found = warp.cta.layout.address(base.variable)
                if found is None:
                    return
                start = found - region.base
            elif region.name != name:
                detail = f"is in {region.name or region.base}, was held to be in {name}"
                self.wrong(moment.function, moment.instruction, detail[-300:], None)
                return
            if access.offset is not None and offset - start != access.offset:
                detail = f"is {offset - start} bytes into {name}, not {access.offset}"
                self.wrong(moment.function, moment.instruction, detail)
                return
