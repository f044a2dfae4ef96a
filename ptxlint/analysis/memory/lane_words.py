"""How threads differ, in words: a vector of integers as an expression in ``tid.x`` or ``laneid``.

What comes out has C's operators and means the same in Python, but for ``/``, which rounds down.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..bitset import members
from ..values.threads import WARP_SIZE, ThreadSpace

# An expression of more parts than that is no easier to read than the numbers.
_MOST_PARTS = 8
_LOW_BITS = 16


class Variable(NamedTuple):
    """Something that threads differ in: ``values`` by thread, from 0 up to below ``extent``."""

    text: str
    values: Sequence[int]
    extent: int


class Part(NamedTuple):
    """``factor`` x ``number`` bits of a variable (0: all above) from bit ``shift`` on."""

    factor: int
    text: str
    shift: int
    number: int

    def __str__(self) -> str:
        return times(self.factor, self.bits)

    @property
    def bits(self) -> str:
        """The bits without the factor."""
        inner = f"{self.text}>>{self.shift}" if self.shift else self.text
        if self.number:
            return f"({inner}&{(1 << self.number) - 1})"
        return f"({inner})" if self.shift else inner


class LaneWords(NamedTuple):
    """``text`` stands for ``const`` + the vector; ``parts`` are its summands, where it is a sum
    of parts and no more.
    """

    text: str
    const: int
    parts: tuple[Part, ...] = ()


def times(factor: int, text: str) -> str:
    """``factor`` x ``text``, which needs no parentheses as a factor."""
    number, star, rest = text.partition("*")
    if star and number.isdigit():
        factor, text = factor * int(number), rest
    return text if factor == 1 else f"-{text}" if factor == -1 else f"{factor}*{text}"


def variables(space: ThreadSpace) -> list[tuple[Variable, ...]]:
    """What to write expressions in, the most telling first."""
    if not space.whole:
        return [(Variable("laneid", range(WARP_SIZE), WARP_SIZE),)]
    threads = range(space.size)
    x, y, z = space.shape.block or (space.size, 1, 1)
    axes = (
        Variable("tid.x", [t % x for t in threads], x),
        Variable("tid.y", [t // x % y for t in threads], y),
        Variable("tid.z", [t // (x * y) for t in threads], z),
    )
    kept = tuple([axis for axis in axes if axis.extent > 1])
    found = [kept] if kept else []
    if len(kept) > 1:
        sizes = zip((1, x, x * y), axes, strict=True)
        sums = [times(size, axis.text) for size, axis in sizes if axis in kept]
        found.append((Variable(f"({' + '.join(sums)})", threads, space.size),))
    return found


def lane_words(
    values: Sequence[int], const: int, choices: Sequence[tuple[Variable, ...]]
) -> LaneWords | None:
    """``values`` by thread, the first of them 0, as an expression; None where none is short.

    ``const`` is what stands beside them: where they are an exclusive or of bits only together
    with it, as much of it as that takes goes into the expression.
    """
    # What an exclusive or has taken up of the constant is the low bits of it.
    starts = {const & ((1 << bits) - 1) for bits in range(min(const.bit_length(), _LOW_BITS) + 1)}
    starts.add(max(const, 0))
    for chosen in choices:
        added = _sum(values, chosen)
        found = [added]
        if added is None or len(added.parts) > 1:
            found += [_exclusive(values, start, chosen) for start in starts]
        if not any(found) and len(chosen) == 1:
            found = [_digits(values, chosen[0])]
        kept = [words for words in found if words is not None]
        if kept:
            return min(kept, key=lambda words: (len(words.text), words.const))
    return None


def joined(terms: Sequence[str]) -> str:
    """Terms as a sum, those that begin with a minus subtracted."""
    text = terms[0]
    for term in terms[1:]:
        text += f" - {term[1:]}" if term.startswith("-") else f" + {term}"
    return text


def _columns(values: Sequence[int], chosen: tuple[Variable, ...]) -> list[list[int]] | None:
    """For each variable and each of its bits, the value of the thread in which that alone is 1."""
    places = {key: t for t, key in enumerate(zip(*[v.values for v in chosen], strict=True))}
    found = []
    for place, variable in enumerate(chosen):
        row = []
        for bit in range((variable.extent - 1).bit_length()):
            thread = places.get(tuple([(at == place) << bit for at in range(len(chosen))]))
            if thread is None:
                return None
            row.append(values[thread])
        found.append(row)
    return found


def _combined(
    chosen: tuple[Variable, ...], columns: list[list[int]], thread: int, exclusive: bool
) -> int:
    """The columns of the bits that are 1 in a thread, put together."""
    total = 0
    for variable, row in zip(chosen, columns, strict=True):
        value = variable.values[thread]
        for bit, column in enumerate(row):
            if value >> bit & 1:
                total = total ^ column if exclusive else total + column
    return total


def _sum(values: Sequence[int], chosen: tuple[Variable, ...]) -> LaneWords | None:
    """A sum over the bits of the variables."""
    columns = _columns(values, chosen)
    if columns is None or any(
        _combined(chosen, columns, t, False) != value for t, value in enumerate(values)
    ):
        return None
    parts: list[Part] = []
    for variable, row in zip(chosen, columns, strict=True):
        bit = 0
        while bit < len(row):
            start, factor = bit, row[bit]
            while bit < len(row) and row[bit] == factor << (bit - start):
                bit += 1
            if factor:
                parts.append(_part(factor, variable, start, bit - start))
    if not 0 < len(parts) <= _MOST_PARTS:
        return None
    parts.reverse()  # rows before columns
    return LaneWords(joined([str(part) for part in parts]), 0, tuple(parts))


def _part(factor: int, variable: Variable, shift: int, count: int) -> Part:
    top = shift + count == (variable.extent - 1).bit_length()
    return Part(factor, variable.text, shift, 0 if top else count)


def _exclusive(values: Sequence[int], const: int, chosen: tuple[Variable, ...]) -> LaneWords | None:
    """An exclusive or over the bits of the variables: a swizzle."""
    whole = [const + value for value in values]
    if min(whole) < 0:
        return None
    columns = _columns([value ^ const for value in whole], chosen)
    if columns is None or any(
        _combined(chosen, columns, t, True) != value ^ const for t, value in enumerate(whole)
    ):
        return None
    masked = list(_diagonals(chosen, columns))
    if not 0 < len(masked) <= _MOST_PARTS:
        return None
    terms, inside = [], 0
    for parts, mask in _overlapping(masked):
        here = const & mask
        inside |= here
        if len(parts) == 1 and not here:
            terms.append(str(parts[0]))
        else:
            terms.append(f"({' ^ '.join([*map(str, parts), *([str(here)] if here else [])])})")
    return LaneWords(joined(terms), inside)


def _diagonals(
    chosen: tuple[Variable, ...], columns: list[list[int]]
) -> Iterator[tuple[Part, int]]:
    """Runs of bits that go to a run of places, and the bits that they go to."""
    for variable, row in zip(chosen, columns, strict=True):
        pairs = {(bit, out) for bit, column in enumerate(row) for out in members(column)}
        for bit, out in sorted(pairs):
            if (bit - 1, out - 1) in pairs:
                continue
            count = 1
            while (bit + count, out + count) in pairs:
                count += 1
            yield _part(1 << out, variable, bit, count), ((1 << count) - 1) << out


def _overlapping(masked: list[tuple[Part, int]]) -> list[tuple[list[Part], int]]:
    """Parts by the places that they meet in: those that meet nowhere may be added."""
    groups: list[tuple[list[Part], int]] = []
    for part, mask in masked:
        met = [group for group in groups if group[1] & mask]
        parts = [p for group in met for p in group[0]]
        for _, other in met:
            mask |= other
        groups = [group for group in groups if group not in met] + [([*parts, part], mask)]
    return sorted(groups, key=lambda group: -group[1])


def _digits(values: Sequence[int], variable: Variable) -> LaneWords | None:
    """Rows of a length that is no power of two: ``x%24`` and ``x/24``."""
    step = values[1] - values[0] if len(values) > 1 else 0
    row = next((t for t, value in enumerate(values) if value != step * t), 0)
    if row < 2:
        return None
    heads = values[::row]
    if any(value != heads[t // row] + step * (t % row) for t, value in enumerate(values)):
        return None
    terms = [times(step, f"({variable.text}%{row})")] if step else []
    if any(heads):
        outer = Variable(f"({variable.text}/{row})", range(len(heads)), len(heads))
        found = _sum(heads, (outer,))
        if found is None:
            return None
        terms.insert(0, found.text)
    return LaneWords(joined(terms), 0)
