"""Read any frame through the dataframe interchange protocol, without pandas.

Source: https://data-apis.org/dataframe-protocol/latest/API.html. Memory of another library is read here, so sizes
come from what the protocol states of each buffer.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

from ..errors import InvalidRequestError

_INT, _UINT, _FLOAT, _BOOL, _STRING, _DATETIME, _CATEGORICAL = 0, 1, 2, 20, 21, 22, 23  # kinds of a column
_SENTINEL, _BITS, _BYTES = 2, 3, 4  # how missing cells are marked; 0: there are none; 1: they are NaN
_LETTERS = {
    (_INT, 8): "b",
    (_INT, 16): "h",
    (_INT, 32): "i",
    (_INT, 64): "q",
    (_FLOAT, 16): "e",
    (_FLOAT, 32): "f",
    (_FLOAT, 64): "d",
}
_LETTERS |= {(_UINT, bits): letter.upper() for (kind, bits), letter in _LETTERS.items() if kind == _INT}
_EPOCH = datetime(1970, 1, 1)
_MICROSECONDS = {"s": 1_000_000.0, "m": 1_000.0, "u": 1.0, "n": 0.001}


def read_interchange(frame: Any) -> dict[Any, list[Any]]:
    """Return the columns of a frame. Raises InvalidRequestError for a column of a type that the protocol has not."""
    found = frame.__dataframe__(allow_copy=True)
    columns = {}
    for number, name in enumerate(found.column_names()):
        try:
            chunks = found.get_column(number).get_chunks()
            columns[name] = [cell for chunk in chunks for cell in _cells(chunk)]
        except (KeyError, NotImplementedError, TypeError) as error:
            raise InvalidRequestError(
                f"The column {name!r} cannot be read: {error}. Hand in a list of dicts or a pandas DataFrame."
            ) from None
    return columns


def _cells(column: Any) -> list[Any]:
    """Return the values of one chunk, ``None`` where missing."""
    kind, bits, stated, _ = column.dtype
    buffers, size, start = column.get_buffers(), column.size(), column.offset
    if kind == _CATEGORICAL:
        categories = _cells(column.describe_categorical["categories"])
        codes = _numbers(buffers["data"], start, size)
        values: list[Any] = [categories[code] if 0 <= code < len(categories) else None for code in codes]
    elif kind == _STRING:
        values = _texts(buffers, start, size)
    elif kind == _BOOL:
        values = _flags(buffers["data"][0], bits, start, size)
    else:
        values = _numbers(buffers["data"], start, size)
    there = _present(column, buffers, values, start, size)
    convert = _moment(stated) if kind == _DATETIME else None
    found = values if there is None else [value if ok else None for value, ok in zip(values, there, strict=True)]
    return found if convert is None else [None if value is None else convert(value) for value in found]


def _memory(buffer: Any) -> memoryview:
    if not buffer.bufsize:
        return memoryview(b"")
    return memoryview((ctypes.c_char * buffer.bufsize).from_address(buffer.ptr)).cast("B")


def _numbers(part: Any, start: int, size: int) -> list[Any]:
    buffer, (kind, bits, _, _) = part
    letter = _LETTERS[_INT if kind == _DATETIME else kind, bits]
    width = bits // 8
    return list(struct.unpack(f"={size}{letter}", _memory(buffer)[start * width : (start + size) * width]))


def _flags(buffer: Any, bits: int, start: int, size: int) -> list[Any]:
    memory = _memory(buffer)
    if bits == 1:
        return [bool(memory[at >> 3] >> (at & 7) & 1) for at in range(start, start + size)]
    return [bool(byte) for byte in memory[start : start + size]]


def _texts(buffers: Any, start: int, size: int) -> list[Any]:
    if not size:
        return []
    ends = _numbers(buffers["offsets"], start, size + 1)
    memory = _memory(buffers["data"][0])
    return [str(memory[begin:end], "utf-8") for begin, end in pairwise(ends)]


def _present(column: Any, buffers: Any, values: list[Any], start: int, size: int) -> list[bool] | None:
    """Return for each value whether it is there; ``None``: all of them are."""
    how, mark = column.describe_null
    if how == _SENTINEL:
        return [value != mark for value in values]
    if how not in (_BITS, _BYTES) or buffers["validity"] is None:
        return None
    flags = _flags(buffers["validity"][0], 1 if how == _BITS else 8, start, size)
    return [flag != bool(mark) for flag in flags]


def _moment(stated: str) -> Callable[[int], date | datetime]:
    """Return how a number becomes a date, by Arrow's format: tdD, tdm, or ts and a unit with the time zone."""
    if stated.startswith("td"):
        per_day = {"D": 1, "m": 86_400_000}[stated[2]]
        return lambda value: _EPOCH.date() + timedelta(value // per_day)
    unit, zone = _MICROSECONDS[stated[2]], stated.partition(":")[2]

    def moment(value: int) -> datetime:
        found = _EPOCH + timedelta(microseconds=value // 1_000 if unit < 1 else value * int(unit))
        return found.replace(tzinfo=UTC).astimezone(ZoneInfo(zone)) if zone else found

    return moment
