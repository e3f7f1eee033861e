"""The form of events in a store: what was written is read, and written again as it was."""

import json
from dataclasses import asdict

import pytest

from jupyter_ctx.context.tokens import Fixed, Meter, SentRequest
from jupyter_ctx.context.usage import Usage
from jupyter_ctx.conversation.events import (
    EVENT_KINDS,
    Added,
    Chosen,
    Cleared,
    Event,
    Excluded,
    IncludedAll,
    Kept,
    MemorySet,
    Offered,
    Picked,
    Pinned,
    Redone,
    Summarized,
    SystemSet,
    Trimmed,
    TurnAdded,
    Undone,
    Unreadable,
)
from jupyter_ctx.conversation.messages import (
    Alternative,
    Alternatives,
    Attachment,
    Summary,
    ToolCall,
    ToolResult,
    ToolRound,
    Turn,
    TurnRecord,
)
from jupyter_ctx.storage.serialization import EventRow, MeterState, from_row, state_text, stored_state, to_row

SUMMARY = '{"text":"They spoke of the sky.","covers":["8a4e"],"method":"extractive","id":"5b7c","by":"c1 9e0d"}'
IMAGE = Attachment("a.png", "image/png", b"\x89PNG", 85)
RECORD = TurnRecord(
    "openai/gpt-5.2", "max_tokens", Usage(21, 7, 4, 2, 3, True), start="3f2a", window=128_000, cell="c1", run="m-1",
    cost=0.25, execution=3, summary="5b7c", digest="d1f3", seconds=1.5, stored=True, source="9e0d", id="8a4e",
    apart=True, sources=("df (40 of 12,000 rows)", "plot.png"), typed=4,
)  # fmt: skip
RECORDED = json.dumps(asdict(RECORD))
TURN = (
    '{"prompt":"Why is the sky blue?","reply":"Because of Rayleigh.","attachments":[{"name":"a.png",'
    '"media_type":"image/png","data":"iVBORw==","tokens":85}],"thinking":"It scatters.","record":'
    + RECORDED
    + ',"rounds":[{"calls":[{"id":"c1","name":"rows",'
    '"arguments":"{}"}],"results":[{"text":"12","attachments":[],"brief":"12 rows","failed":false,"seconds":0.5}],'
    '"text":"I look.","thinking":"","state":""}]}'
)
CALLED = ToolRound((ToolCall("c1", "rows"),), (ToolResult("12", brief="12 rows", seconds=0.5),), "I look.")
SKY = Turn("Why is the sky blue?", "Because of Rayleigh.", (IMAGE,), "It scatters.", RECORD, (CALLED,))
BRIEF = Summary("They spoke of the sky.", frozenset({"8a4e"}), "extractive", "5b7c", "c1 9e0d")
ASKED_RECORD = json.dumps(asdict(TurnRecord(id="77aa")))
OFFER = (
    '{"asked":{"prompt":"Why?","reply":"","attachments":[],"thinking":"","record":' + ASKED_RECORD + ',"rounds":[]},'
    '"answers":[{"label":"one","reply":"So.","thinking":"Hm.","record":' + RECORDED + ',"error":"",'
    '"problem":"Half.","rounds":[]},'
    '{"label":"two","reply":"","thinking":"","record":' + ASKED_RECORD + ',"error":"It failed.",'
    '"problem":"","rounds":[]}],'
    '"append":true,"new":false,"id":"0f0f"}'
)
BOTH = Alternatives(
    Turn("Why?", record=TurnRecord(id="77aa")),
    (
        Alternative("one", "So.", "Hm.", RECORD, problem="Half."),
        Alternative("two", "", "", TurnRecord(id="77aa"), "It failed."),
    ),
    append=True, id="0f0f",
)  # fmt: skip

# kind and body as they are stored, and the event
STORED: list[tuple[str, str, Event]] = [
    ("said", f'{{"turn":{TURN},"append":true,"new":true}}', TurnAdded(SKY, append=True, new=True)),
    ("cleared", "{}", Cleared()),
    ("trimmed", '{"first":"8a4e"}', Trimmed("8a4e")),
    ("summarized", f'{{"summary":{SUMMARY},"automatic":"before"}}', Summarized(BRIEF, "before")),
    ("pinned", '{"places":["8a4e"],"on":true}', Pinned(("8a4e",), True)),
    ("excluded", '{"places":["8a4e"],"on":false}', Excluded(("8a4e",), False)),
    ("included all", "{}", IncludedAll()),
    ("system", '{"text":"Be kind."}', SystemSet("Be kind.")),
    ("memory", '{"path":"notes.md"}', MemorySet("notes.md")),
    (
        "added",
        f'{{"turns":[{TURN}],"system":"Be kind.","pinned":["8a4e"],"excluded":["8a4e"],"summary":{SUMMARY}}}',
        Added((SKY,), "Be kind.", ("8a4e",), ("8a4e",), BRIEF),
    ),
    ("picked", '{"place":"3f2a","turn":"8a4e"}', Picked("3f2a", "8a4e")),
    ("kept", '{"place":"8a4e","run":"m-2","execution":4}', Kept("8a4e", "m-2", 4)),
    ("offered", f'{{"alternatives":{OFFER}}}', Offered(BOTH)),
    ("chosen", '{"alternatives":"0f0f","turn":"8a4e"}', Chosen("0f0f", "8a4e")),
    ("lost", '{"kind":"said"}', Unreadable("said")),
    ("undone", "{}", Undone()),
    ("redone", "{}", Redone()),
]


def test_there_is_a_stored_row_of_every_kind_of_event() -> None:
    assert {kind for kind, _, _ in STORED} == set(EVENT_KINDS)


@pytest.mark.parametrize(("kind", "body", "event"), STORED, ids=[kind for kind, _, _ in STORED])
def test_an_event_is_read_and_written_as_it_is_stored(kind: str, body: str, event: Event) -> None:
    found = from_row(kind, body)
    assert repr(found) == repr(event), "a turn's record, too, which equality leaves out"
    assert found == event, "the bytes of attachments, too, which repr leaves out"
    row = to_row(found, [])
    assert (row.kind, json.loads(row.body)) == (kind, json.loads(body))


def test_a_turn_s_row_names_its_request_its_cell_and_the_text_of_that_cell() -> None:
    row = to_row(TurnAdded(SKY), [])
    assert row == EventRow("said", row.body, None, digest="d1f3", cell="c1", source="9e0d")


def test_what_reports_have_told_is_the_same_after_a_restart() -> None:
    begun, again = Meter(), Meter()
    for turn in range(3):
        begun.reported(SentRequest(Fixed(), "What next?"), "ที่นี่ " * 40, Usage(20, 90), turn_id=str(turn))
    meter: MeterState = {"meter": ("openai", "m"), "overhead": begun.overhead, "latest": begun.reports}
    stored = state_text({"meters": [meter]})
    (known,) = stored_state(stored)["meters"]
    again.restore(known["latest"], known["overhead"], begun.sizes)
    assert (again.reports, again.overhead) == (begun.reports, begun.overhead)
    assert again.message("ที่นี่") == begun.message("ที่นี่")
