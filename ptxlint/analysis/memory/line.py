"""A straight line in the lanes of a warp: what a register is, as far as a quick look tells."""

from __future__ import annotations

from math import gcd
from typing import NamedTuple

from ...ptx.ir import Variable
from .banks import LANES

_BITS = 64
_THREAD_BITS = 10  # of %tid.x: no block has more than 1,024 threads
_MOST = 1 << _BITS
_BITWISE = frozenset({"or", "xor", "selp", "min", "max"})  # 0 in the low bits where all are


UNSURE = "?"


class Origin(NamedTuple):
    """What an address is one of: ``form`` is a space (of a place in its window), ``generic:`` and a
    space, or ``UNSURE`` where several may be; ``variable`` the object, where it is a declared one.

    ``fixed`` where the distance from its start is as told, whatever way was taken.
    """

    form: str
    variable: Variable | None
    fixed: bool = True


class Line(NamedTuple):
    """``factor`` x lane + ``bent``[lane] + ``const`` + multiples of the rest, each
    empty where there is no such part.

    ``step`` divides what all lanes share and nothing is known of; ``spread`` what all share and is
    one of several numbers that come together, in a loop or in arms; ``lanes`` what differs by lane
    in another way. ``data``: it depends on what lanes loaded, each from its own address: no
    pattern can tell how they differ. ``origin``: all this counts from there; None: from 0.
    """

    factor: int
    const: int
    step: int = 0
    spread: int = 0
    lanes: int = 0
    data: bool = False
    bent: tuple[int, ...] = ()
    origin: Origin | None = None

    @property
    def exact(self) -> tuple[int, ...]:
        """What is known in each lane."""
        if self.bent:
            return tuple([self.factor * i + self.const + b for i, b in enumerate(self.bent)])
        return tuple([self.factor * i + self.const for i in range(LANES)])

    @property
    def by_lane(self) -> bool:
        """Whether lanes differ."""
        return bool(self.factor or self.bent or self.lanes)

    @property
    def shared(self) -> int:
        """What divides all that lanes share, but ``const``."""
        return gcd(self.step, self.spread)

    def moved(self, distance: int) -> Line:
        """So many bytes further. (``_replace`` takes three times as long.)"""
        factor, const, step, spread, lanes, data, bent, origin = self
        return Line(factor, const + distance, step, spread, lanes, data, bent, origin)

    def times(self, number: int) -> Line:
        """The product with a number."""
        if self.origin is not None:
            if number == 1:
                return self
            return self._replace(origin=None, step=gcd(self.step, ALIGNED)).times(number)
        size = abs(number)
        return Line(
            self.factor * number,
            self.const * number,
            self.step * size,
            self.spread * size,
            self.lanes * size,
            self.data,
            tuple([number * each for each in self.bent]),
        )


ALIGNED = 256  # an object, and a pointer as cudaMalloc returns it: no more matters
TID_X = Line(1, 0, spread=LANES)
SHARED_BY_ALL = Line(0, 0, step=1)
BY_LANE = Line(0, 0, lanes=1)
DATA = Line(0, 0, step=1, data=True)


def combined(mnemonic: str, modifiers: tuple[str, ...], lines: list[Line]) -> Line:
    """The line of what is computed from lines."""
    whole = not (modifiers and modifiers[-1][:1] in "fb" and "f" in modifiers[-1])
    count = len(lines)
    if whole:
        if mnemonic in ("mov", "cvt"):
            return lines[0]
        if mnemonic == "cvta":
            return lines[0]._replace(origin=_converted(lines[0].origin, modifiers))
        if mnemonic == "neg":
            return lines[0].times(-1)
        if mnemonic == "not":
            return _sum(lines[0].times(-1), Line(0, -1))
        if mnemonic == "add" and count == 2:
            return _sum(lines[0], lines[1])
        if mnemonic == "sub" and count == 2:
            return _sum(lines[0], lines[1].times(-1))
        if mnemonic == "shl" and count == 2 and _is_number(lines[1]) and 0 <= lines[1].const < 64:
            return lines[0].times(1 << lines[1].const)
        if mnemonic == "mul" and count == 2 and "hi" not in modifiers:
            return _product(lines[0], lines[1])
        if mnemonic == "mad" and count == 3 and "hi" not in modifiers:
            return _sum(_product(lines[0], lines[1]), lines[2])
        found = _exactly(mnemonic, lines)
        if found is not None:
            return found
    low = 1
    if any(line.origin for line in lines):
        return Line(0, 0, lanes=1) if any(line.by_lane for line in lines) else SHARED_BY_ALL
    if mnemonic == "and":
        low = max([_low_bit(line) for line in lines], default=1)
    elif mnemonic in _BITWISE:
        low = min([_low_bit(line) for line in lines], default=1)
    if any(line.data for line in lines):
        return Line(0, 0, step=low, data=True)
    if any(line.by_lane for line in lines):
        return Line(0, 0, lanes=low)
    return Line(0, 0, step=low) if any(line.step for line in lines) else Line(0, 0, spread=low)


def _converted(origin: Origin | None, modifiers: tuple[str, ...]) -> Origin | None:
    """What cvta makes of an address, which knows no other spaces than these."""
    space = next((m.split("::")[0] for m in modifiers if m not in ("to", "u32", "u64")), UNSURE)
    form = space if "to" in modifiers else f"generic:{space}"
    return Origin(form, None) if origin is None else origin._replace(form=form)


def _exactly(mnemonic: str, lines: list[Line]) -> Line | None:
    """Of the operations that take bits apart: of %tid.x, what is of the lane and of the warp."""
    if len(lines) != 2 or any(x.lanes or x.data or x.origin for x in lines):
        return None
    a, b = lines
    if mnemonic in ("or", "xor"):
        for one, other in ((a, b), (b, a)):
            if not one.shared and min(one.exact) >= 0 and max(one.exact) < _low_bit(other):
                return _sum(one, other)  # no bit in common
        if a.shared or b.shared:
            return None
        pairs = zip(a.exact, b.exact, strict=True)
        return _line(tuple([x | y if mnemonic == "or" else x ^ y for x, y in pairs]))
    if not _is_number(b) or not (a.by_lane or _is_number(a)):
        return None
    if a == TID_X and mnemonic == "shr" and b.const >= _THREAD_BITS:
        return Line(0, 0)  # its sign, say
    number, exact, period = b.const, a.exact, a.shared & -a.shared or _MOST
    if mnemonic == "shr" and 0 <= number < _BITS:
        if 1 << number <= period:
            step, spread = a.step >> number, a.spread >> number
            return _line(tuple([each >> number for each in exact]), step, spread)
        return Line(0, 0, spread=1) if len({each // period for each in exact}) == 1 else None
    if mnemonic == "and":
        kept = tuple([each % period & number for each in exact])
    elif mnemonic in ("div", "rem") and number > 0 and (not a.shared or number % period == 0):
        if not a.shared:
            whole = mnemonic == "div"
            return _line(tuple([each // number if whole else each % number for each in exact]))
        kept = tuple([each % period for each in exact])
    else:
        return None
    above = mnemonic != "and" or number & -period
    if a.shared and above and len({each // period for each in exact}) > 1:
        return None
    if mnemonic == "div":
        return Line(0, 0, spread=1)
    return _line(kept, spread=period if a.shared and above else 0)


def _line(exact: tuple[int, ...], step: int = 0, spread: int = 0) -> Line:
    """The line of what is known in each lane, but for what all share."""
    factor, const = exact[1] - exact[0], exact[0]
    bent = tuple([each - const - factor * lane for lane, each in enumerate(exact)])
    return Line(factor, const, step, spread, bent=bent if any(bent) else ())


def _low_bit(line: Line) -> int:
    """The largest power of 2 of which all that the line gives is a multiple."""
    every = line.factor | line.const | line.step | line.spread | line.lanes
    for each in line.bent:
        every |= each
    return every & -every or _MOST


def _is_number(line: Line) -> bool:
    return not (line.by_lane or line.step or line.spread or line.origin)


def _sum(a: Line, b: Line) -> Line:
    both = a.origin is not None and b.origin is not None
    return Line(
        a.factor + b.factor,
        a.const + b.const,
        1 if both else gcd(a.step, b.step),
        gcd(a.spread, b.spread),
        gcd(a.lanes, b.lanes),
        a.data or b.data,
        _added(a.bent, b.bent),
        None if both else a.origin or b.origin,
    )


def _added(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    if not a or not b:
        return a or b
    return tuple([x + y for x, y in zip(a, b, strict=True)])


def _product(a: Line, b: Line) -> Line:
    if _is_number(a):
        return b.times(a.const)
    if _is_number(b):
        return a.times(b.const)
    # (c + s x) (d + t y): all but c d is a multiple of what divides c t, d s and s t.
    if a.origin or b.origin:
        return BY_LANE if a.by_lane or b.by_lane else SHARED_BY_ALL
    s, t = (gcd(line.factor, line.shared, line.lanes, *line.bent) for line in (a, b))
    step, const = gcd(a.const * t, b.const * s, s * t), a.const * b.const
    if a.data or b.data:
        return Line(0, const, step, data=True)
    if a.by_lane or b.by_lane:
        return Line(0, const, lanes=step)
    return Line(0, const, step) if a.step or b.step else Line(0, const, spread=step)


def join(a: Line, b: Line, arms: bool) -> Line:
    """Where one of two comes: ``arms`` if it depends on the way there, and if they differ by lane
    then, no pattern can tell how.
    """
    apart, step, spread = a.const - b.const, gcd(a.step, b.step), gcd(a.spread, b.spread)
    lanes, data, origin = gcd(a.lanes, b.lanes), a.data or b.data, a.origin
    if a.origin != b.origin:
        forms = {line.origin.form if line.origin else "" for line in (a, b)}
        origin = (
            None if arms else Origin(UNSURE if len(forms) > 1 else forms.pop(), None, fixed=False)
        )
        step = gcd(step, ALIGNED)
    elif origin is not None and apart and not arms:
        origin = origin._replace(fixed=False)
    if a.factor == b.factor and a.bent == b.bent:
        return Line(a.factor, a.const, step, gcd(spread, apart), lanes, data, a.bent, origin)
    lanes = gcd(lanes, a.factor, b.factor, apart, *a.bent, *b.bent)
    return Line(0, a.const, step, spread, lanes, data or arms, origin=origin)
