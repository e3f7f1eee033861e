"""Hand in a conversation: write its record as a page, a notebook or JSON, and check such a file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import starmap
from typing import Any

from .. import wording as words
from ..chat import Chat
from ..display.answer.footer import Footer
from ..display.report_page import REPORT_MARK, page_of
from ..display.text import text_html, to_plain
from ..display.transcript import TurnShown, folded_html, said_html, turn_html
from ..errors import InvalidRequestError
from ..export import hand_in as files
from ..export.notebook_file import code_cell
from ..runtime.files import path_of, write_export
from ..runtime.redaction import blanked_line
from ..session.hand_in_record import hand_in_record

_MARK = REPORT_MARK.replace("jupyter_ctx", files.HANDED_IN)
_SHEET = (
    "<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;margin:0 auto;padding:1em;"
    "max-width:60em;color:CanvasText;background:Canvas;overflow-wrap:anywhere}a{color:LinkText}"
    "details{margin:.5em 0}summary{cursor:pointer}pre{white-space:pre-wrap}</style>"
)
_Piece = tuple[str, str, str]  # of what is shown: its title, its HTML, and its text for where there is none
_ORIGINS = {"asked": "", "stored": "stored answer: nothing was sent", "added": "added from another conversation"}


def hand_in(chat: Chat, word: str) -> str:
    """Write the file, and return a line about it. Raises InvalidRequestError."""
    path = path_of(word)
    suffix = path.suffix.lower()
    if suffix not in files.HAND_IN_SUFFIXES:
        raise InvalidRequestError(f"{path} cannot be handed in: name a file that ends in {files.HAND_IN_FORMATS}.")
    redactor = chat.desk.redactor()
    record = hand_in_record(chat.conversation, chat.name, chat.system, redactor)
    if not record.answers:
        raise InvalidRequestError("There is nothing to hand in: nothing was asked in this conversation yet.")
    seal, text = _sealed(record, suffix)
    size = len(text.encode())
    if size > files.MOST_HANDED_IN:
        raise InvalidRequestError(f"{path} would have {size:,} bytes, and {files.MOST_HANDED_IN:,} at most are read.")
    written_to = write_export(path, text, files.is_hand_in)
    answers = words.counted(len(record.answers), "answer")
    wrote = f"Wrote {answers} to {written_to} ({size:,} bytes), digest {seal.digest[:16]}."
    return f"{wrote} {blanked_line(path.name, redactor.blanked)}".rstrip()


def check_hand_in(word: str) -> str:
    """Return a line where a file fits its digest. Raises InvalidRequestError where it does not."""
    path = path_of(word)
    seal, misfit = files.load_hand_in(path)
    if misfit:
        raise InvalidRequestError(f"{path} does not fit its digest: it was changed in {misfit}.")
    return f"{path} fits its digest {seal.digest[:16]}, written {seal.record.written}. {files.PROVES}"


def _sealed(record: files.HandedRecord, suffix: str) -> tuple[files.Seal, str]:
    if suffix == ".json":
        return files.sealed_json(record)
    ordered = sorted(record.answers, key=lambda answer: (not answer.turn, answer.turn, answer.version))
    left = {"coloured": 200_000.0, "formulas": 0.0, "seconds": 3.0}  # for all answers
    pieces = [_head(record), *(_piece(answer, left) for answer in ordered)]
    if suffix == ".ipynb":
        return files.sealed_notebook(record, list(starmap(_cell, pieces)))
    return files.sealed_page(record, page_of(_MARK, "Handed in", _SHEET, "".join(page for _, page, _ in pieces)))


def _head(record: files.HandedRecord) -> _Piece:
    turns = words.turns(sum(answer.state == "current" for answer in record.answers))
    answers = words.counted(len(record.answers), "answer")
    about = f"{turns}, {answers} in all, written {record.written}"
    lines = "".join(f"<p>{text_html(line)}</p>" for line in (record.conversation, about, record.proves) if line)
    return "Handed in", f"{lines}{_folded('System prompt', record.system)}", record.proves


def _cell(title: str, page: str, text: str) -> dict[str, Any]:
    """Return a cell that asks nothing when it runs."""
    data = {"text/html": page, "text/plain": to_plain(text)}
    return code_cell(f"# {title}", {"output_type": "display_data", "data": data, "metadata": {}})


def _folded(title: str, text: str) -> str:
    return folded_html(title, said_html(text, files.MOST_HANDED_IN)) if text else ""


def _piece(answer: files.HandedAnswer, left: dict[str, float]) -> _Piece:
    """Return a prompt and its answer, folded where it is not the current one."""
    numbers = f"Turn {answer.turn:,}, version {answer.version:,}, " if answer.turn else ""
    title = f"{numbers}{answer.state}"
    facts = tuple(filter(None, _answer_facts(answer)))
    figures = Footer(answer.model, answer.usage, answer.seconds, answer.cost, answer.ending)
    shown = TurnShown(0, answer.prompt, answer.sources, answer.reply, figures, facts)
    turn = turn_html(shown, files.MOST_HANDED_IN, left)
    body = re.sub(r"(</?)h[1-6]\b", r"\1p", turn)  # only the headings of a page stand in order
    body += _folded("Text that went with the prompt", answer.attached_text)
    page = f"<h2>{title}</h2>{body}" if answer.state == "current" else folded_html(title, body)
    return title, page, f"{answer.prompt}\n\n{answer.reply}"


def _answer_facts(answer: files.HandedAnswer) -> Iterator[str]:
    """Yield what is known of an answer beside its texts and its figures; some may be empty."""
    yield from (answer.model, answer.at, _ORIGINS[answer.origin])
    yield f"window of {answer.window:,}" if answer.window else ""
    yield from answer.files
    for state, rows in answer.turns_before.items():
        numbers = [number for first, last in rows for number in range(first, last + 1)]
        yield f"{state} then: {words.named_turns(numbers)}"
    yield answer.problem
