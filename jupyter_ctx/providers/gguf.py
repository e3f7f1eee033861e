"""What a GGUF file says of itself, read before anything is loaded.

The format: magic, version, counts, then keys with values, then where each tensor's data begins
(https://github.com/ggml-org/ggml/blob/master/docs/gguf.md). Numbers are little-endian.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import BinaryIO

from ..errors import InvalidRequestError, ModelNotFoundError

MAGIC, VERSIONS, TENSORS_FROM = b"GGUF", (2, 3), 24
STRUCT_FORMATS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9
# Bits a number takes, by the type of its tensor: F32, F16, Q4_0 to Q8_0, Q2_K to Q6_K, BF16; others take one at least.
BITS_PER_WEIGHT = {
    0: 32, 1: 16, 2: 4.5, 3: 5, 6: 5.5, 7: 6, 8: 8.5,
    10: 2.625, 11: 3.4375, 12: 4.5, 13: 5.5, 14: 6.5625, 30: 16,
}  # fmt: skip
CONTEXT_LENGTH, ALIGNMENT = ".context_length", "general.alignment"
LONGEST_KEY, MAX_ENTRIES = 65_535, 10_000_000  # what no real file has more of: damage must not cost memory or time
OTHERS = (  # what files begin with that people take for one
    (b"version https://git-lfs", "a Git LFS pointer, not the model itself: fetch it with git lfs pull"),
    (b"<", "a web page, not a model: download the file itself"),
    (b"PK", "a zip archive (of PyTorch?), not GGUF: look for a file of this model that is"),
)


def trained_window(path: Path) -> int | None:
    """Return the tokens that a model is trained for, or ``None``: its file does not say.

    Raises InvalidRequestError, or ModelNotFoundError, with what is the matter with a file that is
    missing, unreadable, empty, foreign or cut off in its head.
    """
    size = _size(path)
    try:
        with path.open("rb") as file:
            _check_kind(path, file.read(64))
            file.seek(TENSORS_FROM - 8)
            return next((int(value) for key, value in _values(file) if key.endswith(CONTEXT_LENGTH)), None)
    except OSError as error:
        raise _unreadable(path, error) from None
    except (struct.error, ValueError) as error:
        if isinstance(error, InvalidRequestError):
            raise
        raise _cut(path, size) from None


def check_whole(path: Path) -> None:
    """Raise InvalidRequestError where a file ends before the data of its tensors does."""
    size = _size(path)
    with path.open("rb") as file:
        try:
            least = _least_size(file)
        except (struct.error, ValueError):
            raise _cut(path, size) from None
    if size < least:
        raise _cut(path, size)


def _size(path: Path) -> int:
    """Return a file's size in bytes."""
    try:
        size = path.stat().st_size
    except OSError as error:
        raise _unreadable(path, error) from None
    if path.is_dir():
        raise InvalidRequestError(f"{path} is a folder: name the .gguf file in it.")
    return size


def _check_kind(path: Path, start: bytes) -> None:
    if not start:
        raise InvalidRequestError(f"{path} is empty: copy or download it again.")
    if not start.startswith(MAGIC):
        kind = next((kind for begins, kind in OTHERS if start.lstrip().startswith(begins)), None)
        raise InvalidRequestError(f"{path} is {kind or 'not a GGUF file: only these can be served here'}.")
    if len(start) < TENSORS_FROM:
        raise _cut(path, len(start))
    version = struct.unpack("<I", start[4:8])[0]
    if version not in VERSIONS:
        raise InvalidRequestError(
            f"{path} is GGUF of version {version}; 2 and 3 can be served (little-endian): convert it, or find another."
        )


def _unreadable(path: Path, error: OSError) -> InvalidRequestError | ModelNotFoundError:
    if isinstance(error, FileNotFoundError):
        return ModelNotFoundError(f"There is no file {path}.", model=str(path))
    return InvalidRequestError(f"{path} cannot be read ({error.strerror}): check its permissions.")


def _cut(path: Path, size: int) -> InvalidRequestError:
    return InvalidRequestError(f"{path} is incomplete or damaged ({size:,} bytes): copy or download it again.")


def _values(file: BinaryIO) -> Iterator[tuple[str, int | float]]:
    """Yield the keys whose values are numbers, reading from the count of keys on; skip all other values."""
    for _ in range(_bounded(_number(file, "Q"))):
        key, kind = _text(file), _number(file, "I")
        if kind in STRUCT_FORMATS:
            yield key, _number(file, STRUCT_FORMATS[int(kind)])
        else:
            _pass(file, int(kind))


def _least_size(file: BinaryIO) -> int:
    """Return the least size of the file in bytes: the end of its last tensor."""
    file.seek(8)
    tensors = _bounded(_number(file, "Q"))
    alignment = int(dict(_values(file)).get(ALIGNMENT, 32)) or 32
    end = 0
    for _ in range(tensors):
        _text(file)
        sizes = [int(_number(file, "Q")) for _ in range(_bounded(_number(file, "I"), 16))]
        bits, offset = BITS_PER_WEIGHT.get(int(_number(file, "I")), 1), int(_number(file, "Q"))
        end = max(end, offset + int(prod(sizes) * bits) // 8)
    return -(-file.tell() // alignment) * alignment + end if end else file.tell()


def _pass(file: BinaryIO, kind: int) -> None:
    if kind == STRING:
        file.seek(_number(file, "Q"), 1)  # type: ignore[arg-type]
    elif kind == ARRAY:
        inner, count = int(_number(file, "I")), _bounded(_number(file, "Q"))
        if inner in STRUCT_FORMATS:
            file.seek(count * struct.calcsize(f"<{STRUCT_FORMATS[inner]}"), 1)
            return
        for _ in range(count):
            _pass(file, inner)
    else:
        raise ValueError(kind)


def _text(file: BinaryIO) -> str:
    return file.read(_bounded(_number(file, "Q"), LONGEST_KEY)).decode("utf-8", "replace")


def _number(file: BinaryIO, kind: str) -> int | float:
    """Return the next number. Raises struct.error where the file ends before it."""
    (number,) = struct.unpack(f"<{kind}", file.read(struct.calcsize(f"<{kind}")))
    return number  # type: ignore[no-any-return]


def _bounded(count: int | float, most: int = MAX_ENTRIES) -> int:
    if count > most:
        raise ValueError(count)
    return int(count)
