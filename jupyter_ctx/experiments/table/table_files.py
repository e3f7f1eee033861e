"""Read the columns of a CSV, TSV, JSONL or JSON file, and say which line is wrong; let libraries read other formats."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import IO, Any, NamedTuple

from ...attachments.tables import library_table
from ...errors import InvalidRequestError, MissingDependencyError
from ...wording import counted, did_you_mean

MAX_ROWS = 1_000_000  # of a table without a limit
TEXT_COLUMN = "text"  # the column of a table of texts
_MAX_CELL = 100_000_000  # characters
_MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}  # at the beginning of a file


FileColumns = Mapping[str, Sequence[Any]]  # of a file, by name


class FileTable(NamedTuple):
    """The columns of a file, and what was decided in reading it, a line each."""

    columns: FileColumns
    notes: tuple[str, ...] = ()


def read_table_file(path: Path, limit: int | None = None) -> FileTable:
    """Return the columns of a file, of its first ``limit`` rows. Raises InvalidRequestError with the line's number."""
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
    except UnicodeDecodeError:
        raise InvalidRequestError(_undecodable(path)) from None


def at_most_rows(count: int, limit: int | None, source: str) -> None:
    """Raise InvalidRequestError for more than a million rows without a limit."""
    if limit is None and count > MAX_ROWS:
        raise InvalidRequestError(
            f"There are more than {MAX_ROWS:,} rows in {source}: say how many to ask, such as limit={MAX_ROWS:,}."
        )


def _nearest(path: Path) -> str:
    try:
        names = [entry.name for entry in path.parent.iterdir() if entry.suffix.lower() in TABLE_FORMATS]
    except OSError:
        return f" There is no folder {path.parent} either."
    return did_you_mean(path.name, names)


@contextmanager
def _opened(path: Path) -> Iterator[IO[str]]:
    """Open a file of text in UTF-8, or in UTF-16 where it begins so."""
    with path.open("rb") as file:
        encoding = _MARKS.get(file.read(2), "utf-8-sig")
    with path.open(encoding=encoding, newline="") as text:
        yield text


def _undecodable(path: Path) -> str:
    """Return what is wrong with a file that is not UTF-8."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                byte = line[error.start]
                return (
                    f"{path.name}, line {number:,}: the byte 0x{byte:02x} is not UTF-8. Save the file as UTF-8, or "
                    f"name its encoding: pandas.read_csv({path.name!r}, encoding='cp1252')."
                )
    return f"{path.name} is not UTF-8. Save it as UTF-8."


def _read_csv(path: Path, limit: int | None) -> FileTable:
    with _opened(path) as file:
        first = next((line for line in file if line.strip()), "")
        delimiter = "\t" if path.suffix.lower() == ".tsv" else _delimiter(first)
        file.seek(0)
        with _long_cells():
            reader = csv.reader(file, delimiter=delimiter, strict=True)
            try:
                columns = _columns(path, reader, limit)
            except csv.Error as error:
                raise InvalidRequestError(f"{path.name}, line {reader.line_num:,}: {error}.") from None
    if delimiter == "," or path.suffix.lower() == ".tsv":
        return FileTable(columns)
    return FileTable(columns, (f"{path.name} was read with {delimiter!r} between its columns.",))


def _delimiter(header: str) -> str:
    """Return what stands between the columns of a header: a comma, unless it has none and another is there."""
    if "," in header:
        return ","
    return next((mark for mark in (";", "\t") if mark in header), ",")


@contextmanager
def _long_cells() -> Iterator[None]:
    """Let a cell hold a whole document: Python's csv refuses more than 131,072 characters."""
    before = csv.field_size_limit(_MAX_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _columns(path: Path, reader: Any, limit: int | None) -> FileColumns:
    records = (record for record in reader if record)  # not the empty lines
    header = _header(path, next(records, []))
    columns: list[list[Any]] = [[] for _ in header]
    for number, record in enumerate(records):
        if number == limit:
            break
        at_most_rows(number + 1, limit, path.name)
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


def _header(path: Path, names: list[str]) -> list[str]:
    """Return the names of the columns; one without a name, as that of an index, is named as pandas does."""
    names = [name.strip() or f"Unnamed: {at}" for at, name in enumerate(names)]
    for at, name in enumerate(names):
        if name in names[:at]:
            raise InvalidRequestError(
                f"{path.name}: columns {names.index(name) + 1} and {at + 1} are both named {name!r}: rename one."
            )
    return names


def _read_jsonl(path: Path, limit: int | None) -> FileTable:
    records: list[Any] = []
    with _opened(path) as file:
        for number, line in enumerate(file, 1):
            if len(records) == limit:
                break
            if line.strip():
                at_most_rows(len(records) + 1, limit, path.name)
                where = f"{path.name}, line {number:,}"
                records.append(_as_record(_parsed(line, where), where))
    return FileTable(_joined(records))


def _read_json(path: Path, limit: int | None) -> FileTable:
    with _opened(path) as file:
        value = _parsed(file.read(), path.name)
    if not isinstance(value, list):
        raise InvalidRequestError(f"{path.name}: a table in JSON must be a list of objects or of texts.")
    at_most_rows(len(value), limit, path.name)
    return FileTable(_joined([_as_record(row, f"{path.name}, row {at}") for at, row in enumerate(value[:limit])]))


def _parsed(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise InvalidRequestError(f"{where}: this is not JSON: {error}.") from None
    except RecursionError:
        raise InvalidRequestError(f"{where}: the values are nested too deeply.") from None


def _as_record(value: Any, where: str) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    if isinstance(value, (list, type(None))):
        raise InvalidRequestError(f'{where}: a row must be an object, such as {{"text": …}}, or a text.')
    return {TEXT_COLUMN: value}


def _joined(records: list[dict[str, Any]]) -> FileColumns:
    """Return the columns of records whose keys may differ."""
    names = dict.fromkeys(name for record in records for name in record)
    return {name: [record.get(name) for record in records] for name in names}


Reader = tuple[str, str, Mapping[str, Any]]  # a module, its function, and options
ARROW: Sequence[Reader] = (
    ("polars", "read_ipc", {}),
    ("polars", "read_ipc_stream", {}),
    ("pyarrow.feather", "read_table", {}),
)
TABLE_READERS: Mapping[str, Sequence[Reader]] = {  # by format, the best first
    ".parquet": (("polars", "read_parquet", {}), ("pyarrow.parquet", "read_table", {})),
    ".arrow": ARROW,
    ".feather": ARROW,
    ".xlsx": (("pandas", "read_excel", {"sheet_name": None}), ("polars", "read_excel", {"sheet_id": 0})),  # all sheets
}


def _read_frame(path: Path, limit: int | None) -> FileTable:
    """Return the columns of a file that a library reads. Raises MissingDependencyError, and InvalidRequestError."""
    path.open("rb").close()  # what is wrong with the path is said as for other files
    wrong = list[str]()
    for module, name, options in TABLE_READERS[path.suffix.lower()]:
        try:
            frame = getattr(import_module(module), name)(path, **options)
        except ImportError:
            continue
        except Exception as error:  # each library has its own
            wrong.append(str(error).partition("\n")[0])
            continue
        frame = _only_sheet(frame, path) if isinstance(frame, dict) else frame
        if hasattr(frame, "convert_dtypes"):
            frame = frame.convert_dtypes()  # else pandas makes decimals of whole numbers beside missing cells
        table = library_table(frame)
        assert table is not None
        at_most_rows(table.rows, limit, path.name)
        return FileTable(table.named_columns(table.rows if limit is None else min(table.rows, limit)))
    if wrong:
        raise InvalidRequestError(f"{path.name} cannot be read: {wrong[0].rstrip('.')}.")
    packages = "pandas openpyxl" if path.suffix.lower() == ".xlsx" else "pyarrow"
    raise MissingDependencyError(f"No library that reads {path.name} is installed: pip install {packages}")


def _only_sheet(sheets: Mapping[str, Any], path: Path) -> Any:
    """Return the sheet of a workbook that has something in it. Raises InvalidRequestError where there are several."""
    filled = {name: sheet for name, sheet in sheets.items() if len(sheet)} or dict(sheets)
    if len(filled) > 1:
        names = ", ".join(map(repr, filled))
        raise InvalidRequestError(
            f"{path.name} has the sheets {names}: read one with pandas.read_excel(path, sheet_name=…), and give that."
        )
    return next(iter(filled.values()))


TABLE_FORMATS: dict[str, Callable[[Path, int | None], FileTable]] = {
    ".csv": _read_csv, ".tsv": _read_csv, ".jsonl": _read_jsonl, ".ndjson": _read_jsonl, ".json": _read_json,
    **dict.fromkeys(TABLE_READERS, _read_frame),
}  # fmt: skip
