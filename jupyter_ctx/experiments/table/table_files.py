"""Read the columns of a CSV, TSV, JSONL or JSON file, and say which line is wrong; let libraries read other formats."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from ...attachments.tables import library_table
from ...errors import InvalidRequestError, MissingDependencyError
from ...wording import counted, did_you_mean

MAX_ROWS = 1_000_000  # of a table without a limit
TEXT_COLUMN = "text"  # the column of a table of texts
_MAX_CELL = 100_000_000  # characters: Python's csv refuses more than 131,072, and a cell may hold a document
FileColumns = Mapping[str, Sequence[Any]]  # of a file, by name


def most_rows(limit: int | None) -> int:
    """Return how many rows are read: one more than are allowed, where there is no limit."""
    return MAX_ROWS + 1 if limit is None else limit


def read_table_file(path: Path, limit: int | None = None) -> tuple[FileColumns | list[Any], tuple[str, ...]]:
    """Return what is in a file, columns or a list of rows, and what was decided in reading it, a line each.

    Raises InvalidRequestError, with the number of the line where a line is wrong.
    """
    read = TABLE_FORMATS.get(path.suffix.lower())
    if read is None:
        known = ", ".join(TABLE_FORMATS)
        raise InvalidRequestError(f"{path.name} must be one of {known}. Read it with pandas and hand in the DataFrame.")
    try:
        path = path.expanduser()
        return read(path, limit)
    except FileNotFoundError:
        raise InvalidRequestError(f"There is no file {path}.{_nearest(path)}") from None
    except (OSError, RuntimeError) as error:  # RuntimeError: there is no home folder
        raise InvalidRequestError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.") from None
    except UnicodeDecodeError as error:
        raise InvalidRequestError(
            f"{path.name}: the byte 0x{error.object[error.start]:02x} is not UTF-8. Save the file as UTF-8, or name "
            f"its encoding: pandas.read_csv({path.name!r}, encoding='cp1252')."
        ) from None


def _nearest(path: Path) -> str:
    names = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
    return did_you_mean(path.name, [name for name in names if Path(name).suffix.lower() in TABLE_FORMATS])


def column_names(given: Iterable[Any]) -> list[str]:
    """Return the names of columns as texts. Raises InvalidRequestError for one that is empty or there twice."""
    names = ["" if name is None or name != name else str(name) for name in given]  # NaN alone is not itself
    for at, name in enumerate(names):
        first = names.index(name)
        if not name.strip():
            raise InvalidRequestError(f"Column {at + 1} of {len(names)} has no name: name it.")
        if first < at:
            raise InvalidRequestError(f"Columns {first + 1} and {at + 1} are both named {name!r}: rename one of them.")
    return names


def _read_csv(path: Path, limit: int | None) -> tuple[FileColumns, tuple[str, ...]]:
    is_tsv = path.suffix.lower() == ".tsv"
    csv.field_size_limit(max(csv.field_size_limit(), _MAX_CELL))
    with path.open(encoding="utf-8-sig", newline="") as file:
        first = next((line for line in file if line.strip()), "")
        delimiter = "\t" if is_tsv else next((mark for mark in (",", ";", "\t") if mark in first), ",")
        file.seek(0)
        reader = csv.reader(file, delimiter=delimiter, strict=True)
        try:
            columns = _columns(path, reader, most_rows(limit))
        except csv.Error as error:
            raise InvalidRequestError(f"{path.name}, line {reader.line_num:,}: {error}.") from None
    if delimiter == "," or is_tsv:
        return columns, ()
    return columns, (f"{path.name} was read with {delimiter!r} between its columns.",)


def _columns(path: Path, reader: Any, most: int) -> FileColumns:
    records = (record for record in reader if record)  # not the empty lines
    names: list[str] = next(records, [])  # one without a name, as that of an index, is named as pandas does
    header = column_names(name.strip() or f"Unnamed: {at}" for at, name in enumerate(names))
    columns: list[list[Any]] = [[] for _ in header]
    for record in islice(records, most):
        if len(record) != len(header):
            is_long = len(record) > len(header)
            remedy = "Put quotes around a field that contains the delimiter" if is_long else "Add the others"
            raise InvalidRequestError(
                f"{path.name}, line {reader.line_num:,}: {counted(len(record), 'field')}, and the header names "
                f"{len(header)}. {remedy}."
            )
        for column, field in zip(columns, record, strict=True):
            column.append(field or None)
    return dict(zip(header, columns, strict=True))


def _read_jsonl(path: Path, limit: int | None) -> tuple[list[Any], tuple[str, ...]]:
    with path.open(encoding="utf-8-sig") as file:
        lines = ((number, line) for number, line in enumerate(file, 1) if line.strip())
        return [_parsed(line, f"{path.name}, line {number:,}") for number, line in islice(lines, most_rows(limit))], ()


def _read_json(path: Path, limit: int | None) -> tuple[list[Any], tuple[str, ...]]:
    value = _parsed(path.read_text("utf-8-sig"), path.name)
    if not isinstance(value, list):
        raise InvalidRequestError(f"{path.name}: a table in JSON must be a list of objects or of texts.")
    return value[:limit], ()


def _parsed(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidRequestError(f"{where}: this is not JSON: {error}.") from None


Reader = tuple[str, str]  # a module and its function
ARROW: Sequence[Reader] = (("polars", "read_ipc"), ("polars", "read_ipc_stream"), ("pyarrow.feather", "read_table"))
TABLE_READERS: Mapping[str, Sequence[Reader]] = {  # by format, the best first
    ".parquet": (("polars", "read_parquet"), ("pyarrow.parquet", "read_table")),
    ".arrow": ARROW,
    ".feather": ARROW,
    ".xlsx": (("pandas", "read_excel"), ("polars", "read_excel")),  # the first sheet
}


def _read_frame(path: Path, limit: int | None) -> tuple[FileColumns, tuple[str, ...]]:
    """Return the columns of a file that a library reads. Raises MissingDependencyError, and InvalidRequestError."""
    path.open("rb").close()  # what is wrong with the path is said as for other files
    wrong = list[str]()
    for module, name in TABLE_READERS[path.suffix.lower()]:
        try:
            frame = getattr(import_module(module), name)(path)
        except ImportError:
            continue
        except Exception as error:  # each library has its own
            wrong.append(str(error).partition("\n")[0])
            continue
        if hasattr(frame, "convert_dtypes"):
            frame = frame.convert_dtypes()  # else pandas makes decimals of whole numbers beside missing cells
        table = library_table(frame)
        assert table is not None
        return table.named_columns(min(table.rows, most_rows(limit))), ()
    if wrong:
        raise InvalidRequestError(f"{path.name} cannot be read: {wrong[0].rstrip('.')}.")
    packages = "pandas openpyxl" if path.suffix.lower() == ".xlsx" else "pyarrow"
    raise MissingDependencyError(f"No library that reads {path.name} is installed: pip install {packages}")


TABLE_FORMATS: dict[str, Callable[[Path, int | None], tuple[FileColumns | list[Any], tuple[str, ...]]]] = {
    ".csv": _read_csv, ".tsv": _read_csv, ".jsonl": _read_jsonl, ".ndjson": _read_jsonl, ".json": _read_json,
    **dict.fromkeys(TABLE_READERS, _read_frame),
}  # fmt: skip
