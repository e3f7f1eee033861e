"""A model that costs next to nothing: the packaged one's head and tokenizer, over one empty layer.

llama.cpp loads it, counts with it and fills its window just as with the packaged model, a hundred times as fast.
After anything that was asked it says SAYS, token by token.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator, Mapping
from typing import Any

SAYS = "Light from the sun meets our air, and blue waves turn more often than red ones; so all of it looks that way."
STATES = 64  # of the answer: one for each token, as many as the layer is wide
LOUD = 4.0  # how much likelier the next token is than any other, before its norm of eight
FORMATS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
NUMBER, STRING, ARRAY = 4, 8, 9
F32, F16 = 0, 1
CHANGED = {
    "llama.block_count": 1, "llama.embedding_length": STATES, "llama.feed_forward_length": STATES,
    "llama.attention.head_count": 1, "llama.attention.head_count_kv": 1, "llama.rope.dimension_count": STATES,
    "general.file_type": F16,
}  # fmt: skip


def small(model: bytes) -> bytes:
    """Return the small model made of a model's file."""
    head, tokens, ends = _head(model)
    tensors = dict(_tensors(tokens, ends))
    where, data = b"", b""
    for name, (shape, kind, weights) in tensors.items():
        where += _string(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, len(data))
        data += weights.ljust(-(-len(weights) // 32) * 32, b"\0")
    entries = struct.unpack_from("<Q", model, 16)[0]
    file = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), entries) + head + where
    return file.ljust(-(-len(file) // 32) * 32, b"\0") + data


def _head(model: bytes) -> tuple[bytes, list[str], int]:
    """Return the entries of the small model's head, all tokens, and the one that ends an answer."""
    at, head, known = 24, b"", dict[str, Any]()
    for _ in range(struct.unpack_from("<Q", model, 16)[0]):
        begin = at
        name, at = _value(model, STRING, at)
        kind = struct.unpack_from("<I", model, at)[0]
        known[name], at = _value(model, kind, at + 4)
        new = _string(name) + struct.pack("<II", NUMBER, CHANGED[name]) if name in CHANGED else model[begin:at]
        head += new
    return head, known["tokenizer.ggml.tokens"], known["tokenizer.ggml.eos_token_id"]


def _value(data: bytes, kind: int, at: int) -> tuple[Any, int]:
    """Return the value at a place, and the place behind it."""
    if kind == STRING:
        begin = at + 8
        end = begin + struct.unpack_from("<Q", data, at)[0]
        return data[begin:end].decode(), end
    if kind == ARRAY:
        of, length = struct.unpack_from("<IQ", data, at)
        values, at = [], at + 12
        for _ in range(length):
            value, at = _value(data, of, at)
            values.append(value)
        return values, at
    form = "<" + FORMATS[kind]
    return struct.unpack_from(form, data, at)[0], at + struct.calcsize(form)


def _string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _tensors(tokens: list[str], ends: int) -> Iterator[tuple[str, tuple[tuple[int, ...], int, bytes]]]:
    """Yield the name of each tensor, with its shape, its kind and its weights.

    The layer adds nothing, so what the last token puts in is what the answer's next token is chosen by.
    """
    chain = [*_tokens_of(SAYS, tokens), ends]
    vocabulary = len(tokens)
    follows = {token: state + 1 for state, token in enumerate(chain[:-1])}
    yield "token_embd.weight", _rows(vocabulary, {t: {follows.get(t, 0): 1.0} for t in range(vocabulary)})
    yield "output.weight", _rows(vocabulary, {token: {state: LOUD} for state, token in enumerate(chain)})
    ones = ((STATES,), F32, array("f", [1.0] * STATES).tobytes())
    nothing = ((STATES, STATES), F16, bytes(2 * STATES * STATES))
    yield "output_norm.weight", ones
    for norm in ("attn_norm", "ffn_norm"):
        yield f"blk.0.{norm}.weight", ones
    for part in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"):
        yield f"blk.0.{part}.weight", nothing


def _tokens_of(text: str, tokens: list[str]) -> list[int]:
    """Return the tokens of a text of which each word and mark is one, and none comes twice."""
    numbers = {token: number for number, token in enumerate(tokens)}
    parts = text.replace(" ", " Ġ").replace(",", " ,").replace(";", " ;").replace(".", " .").split()
    found = [numbers[part] for part in parts]
    assert len(set(found)) == len(found) < STATES
    return found


def _rows(vocabulary: int, rows: Mapping[int, Mapping[int, float]]) -> tuple[tuple[int, ...], int, bytes]:
    """Return a table with a row for each token, in halves."""
    weights = bytearray(2 * STATES * vocabulary)
    for token, row in rows.items():
        for state, weight in row.items():
            struct.pack_into("<e", weights, 2 * (token * STATES + state), weight)
    return (STATES, vocabulary), F16, bytes(weights)
