"""Line tables of cubins: which line an instruction came from, in PTX and in CUDA.

``.nv_debug_line_sass`` leads to lines of the PTX that ptxas read, ``.debug_line`` to those of the
source behind it. Both are DWARF line programs with NVIDIA's additions: rows name the row of the
call that they were inlined through, and addresses are relocated, so that the program runs here and
not in a DWARF library.
"""

from __future__ import annotations

from bisect import bisect_right
from struct import Struct, error, unpack_from
from typing import NamedTuple

from .cubin import Cubin
from .source import Damaged

SASS_TO_PTX, SASS_TO_SOURCE = ".nv_debug_line_sass", ".debug_line"
PTX_TEXT = ".nv_debug_ptx_txt"

_UNIT = Struct("<IHIBBbBB")
_REL, _RELA = Struct("<QQ"), Struct("<QQq")
_COPY, _ADVANCE_PC, _ADVANCE_LINE, _SET_FILE, _SET_COLUMN = 1, 2, 3, 4, 5
_CONST_ADD_PC, _FIXED_ADVANCE_PC = 8, 9
_END, _SET_ADDRESS, _DEFINE_FILE, _INLINED_CALL = 1, 2, 3, 0x90
# Calls inlined into calls: no compiler nests them so deep.
_DEPTH = 64


class Place(NamedTuple):
    """A line of a file, from 1; ``column`` 0 where there is none."""

    file: str
    line: int
    column: int


class Row(NamedTuple):
    """From ``address`` on, an offset in its section, code is of ``place``.

    ``call`` is the index in ``Lines.rows`` of the call that it was inlined through, None outside
    of such.
    """

    address: int
    place: Place
    call: int | None


class Lines:
    """One line table: all its rows, and for each section those that hold there, by address."""

    def __init__(self, rows: list[Row], sections: dict[str, list[int]]) -> None:
        self.rows = rows
        self._sections = sections
        self._addresses = {
            name: [rows[index].address for index in found] for name, found in sections.items()
        }

    def at(self, section: str, offset: int) -> Row | None:
        """The row in force at an offset of a section (``.text.kernel``); None before the first."""
        index = bisect_right(self._addresses.get(section, []), offset) - 1
        return self.rows[self._sections[section][index]] if index >= 0 else None

    def chain(self, row: Row) -> list[Place]:
        """The row's place, and those of the calls it was inlined through, innermost first."""
        found = [row.place]
        while row.call is not None and len(found) < _DEPTH:
            row = self.rows[row.call]
            found.append(row.place)
        return found


def lines(cubin: Cubin, table: str) -> Lines:
    """The line table of that name, empty where there is none; raises Damaged."""
    data = cubin.content(table)
    addresses = _addresses(cubin, table, data)
    rows: list[Row] = []
    sections: dict[str, list[int]] = {}
    at = 0
    try:
        while at + _UNIT.size <= len(data):
            program = _Program(data, at, addresses, rows, sections)
            program.run()
            at = program.end
    except (IndexError, error):
        raise Damaged(f"is damaged: its line table {table} ends within an instruction") from None
    for found in sections.values():
        # Of rows at one address the last one holds: the sort is stable.
        found.sort(key=lambda index: rows[index].address)
    return Lines(rows, sections)


def ptx_text(cubin: Cubin, section: str = PTX_TEXT) -> list[str]:
    """The lines of PTX that it was assembled from, as far as the cubin holds them.

    ``section`` is the file that a row of the table to PTX names: a linked cubin has several.
    Their numbers are those of ptxas's input; comments and lines of debug data are blank.
    """
    content = cubin.content(section)
    return [line.decode("utf-8", "replace") for line in content.split(b"\0")] if content else []


def _addresses(cubin: Cubin, table: str, data: bytes) -> dict[int, tuple[str, int]]:
    """Where an address stands in the table → the section and offset that it is to become."""
    found: dict[int, tuple[str, int]] = {}
    for prefix, form in ((".rel", _REL), (".rela", _RELA)):
        content = cubin.content(prefix + table)
        for row in form.iter_unpack(content[: len(content) // form.size * form.size]):
            offset, number = row[0], row[1] >> 32
            if number >= len(cubin.symbols) or offset + 8 > len(data):
                raise Damaged(f"is damaged: a relocation of {table} leads nowhere")
            symbol = cubin.symbols[number]
            addend = row[2] if form is _RELA else unpack_from("<Q", data, offset)[0]
            if symbol.section < len(cubin.sections):
                name = cubin.sections[symbol.section].name
                found[offset] = name, symbol.value + addend
    return found


class _Program:
    """One unit of a table: its header, and its instructions (DWARF 3, section 6.2)."""

    def __init__(
        self,
        data: bytes,
        start: int,
        addresses: dict[int, tuple[str, int]],
        rows: list[Row],
        sections: dict[str, list[int]],
    ) -> None:
        self._data = data
        self._addresses = addresses
        self._rows = rows
        self._sections = sections
        length, version, header, step, _, base, spread, count = _UNIT.unpack_from(data, start)
        self.end = start + 4 + length
        if self.end > len(data) or not 2 <= version <= 3 or not spread:
            raise Damaged("is damaged: a line table has a header that can't be")
        self._step, self._base, self._range, self._standard = step, base, spread, count
        self._at = start + _UNIT.size
        self._lengths = data[self._at : self._at + count - 1]
        self._at += count - 1
        self._files = self._file_names()
        if len(self._files) == 1:
            self._files = [PTX_TEXT]  # file 0, of the only PTX there is
        # NVIDIA puts more behind the names than DWARF has there.
        self._at = start + 10 + header

    def _file_names(self) -> list[str]:
        folders = [""]
        while folder := self._string():
            folders.append(folder)
        files = [""]
        while name := self._string():
            files.append(self._joined(folders, name))
        return files

    def _joined(self, folders: list[str], name: str) -> str:
        folder = self._unsigned()
        self._unsigned()
        self._unsigned()
        if not 0 < folder < len(folders) or name.startswith("/"):
            return name
        return f"{folders[folder].rstrip('/')}/{name}"

    def run(self) -> None:
        """Append the unit's rows."""
        self._reset()
        while self._at < self.end:
            code = self._data[self._at]
            self._at += 1
            if code >= self._standard:
                code -= self._standard
                self._address += code // self._range * self._step
                self._line += self._base + code % self._range
                self._emit()
            elif code == 0:
                size = self._unsigned()
                begin = self._at
                self._extended(size)
                self._at = begin + size
            else:
                self._simple(code)

    def _reset(self) -> None:
        """The state at the beginning of a sequence: of one section's rows."""
        self._section = ""
        self._address, self._file, self._line, self._column = 0, 1, 1, 0
        self._call: int | None = None
        self._first = len(self._rows)  # calls are numbered from here

    def _emit(self) -> None:
        name = self._files[self._file] if self._file < len(self._files) else f"file {self._file}"
        place = Place(name, self._line, self._column)
        self._sections.setdefault(self._section, []).append(len(self._rows))
        self._rows.append(Row(self._address, place, self._call))

    def _simple(self, code: int) -> None:
        if code == _COPY:
            self._emit()
        elif code == _ADVANCE_PC:
            self._address += self._unsigned() * self._step
        elif code == _ADVANCE_LINE:
            self._line += self._signed()
        elif code == _SET_FILE:
            self._file = self._unsigned()
        elif code == _SET_COLUMN:
            self._column = self._unsigned()
        elif code == _CONST_ADD_PC:
            self._address += (255 - self._standard) // self._range * self._step
        elif code == _FIXED_ADVANCE_PC:
            self._address += unpack_from("<H", self._data, self._at)[0]
            self._at += 2
        else:
            for _ in range(self._lengths[code - 1]):
                self._unsigned()

    def _extended(self, size: int) -> None:
        """One extended instruction of ``size`` bytes; some say nothing of lines."""
        if not size:
            return
        code = self._data[self._at]
        self._at += 1
        if code == _END:
            self._reset()
        elif code == _SET_ADDRESS:
            plain = int.from_bytes(self._data[self._at : self._at + size - 1], "little")
            self._section, self._address = self._addresses.get(self._at, ("", plain))
        elif code == _DEFINE_FILE:
            self._files.append(self._string())
        elif code == _INLINED_CALL:
            number = self._unsigned()
            row = self._first + number - 1
            self._call = row if number > 0 and row < len(self._rows) else None

    def _string(self) -> str:
        end = self._data.index(b"\0", self._at)
        text = self._data[self._at : end].decode("utf-8", "replace")
        self._at = end + 1
        return text

    def _unsigned(self) -> int:
        result = shift = 0
        while True:
            byte = self._data[self._at]
            self._at += 1
            result |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return result

    def _signed(self) -> int:
        start = self._at
        value = self._unsigned()
        bits = 7 * (self._at - start)
        return value - (1 << bits) if value >> (bits - 1) & 1 else value
