"""``%chat replay``: show turn by turn what was sent, what fell out, and what a summary stood for."""

from __future__ import annotations

from collections.abc import Iterator

from IPython.display import display

from ..display.widgets.replay import ReplayFrame, replay_forms
from ..errors import InvalidRequestError
from ..session.preview import View, ViewPart
from ..session.replay import replayed
from ..wording import named_turns
from .command_table import Call

STANDING = {"left out": "Left out:", "summarised": "A summary stands for", "excluded": "Excluded:"}
SAID_ABOVE = ("sent", "system", *STANDING)
FITS = "The recorded digest fits: these messages were sent, word for word."
FITS_NOT = (
    "The recorded digest does not fit: the cell had a system prompt of its own, or the memory file has changed since."
)


def replay(call: Call) -> None:
    """Show the requests of the newest turns. Raises InvalidRequestError where there are none."""
    frames, in_view = list[ReplayFrame](), set[int | None]()
    for number, view, info, is_checked, trimmed in replayed(call.chat.desk.session):
        happened = " ".join(_happened(view, in_view - set(range(1, trimmed + 1))))
        omitted = [(_about(part), part.text) for part in view.omitted]
        checked = FITS if is_checked else FITS_NOT
        frames.append(ReplayFrame(number, info, happened, checked, list(_sent(view)), omitted))
        in_view = {part.number for part in view.messages} | {number}
    if not frames:
        raise InvalidRequestError(
            "There is nothing to replay: no turn since the last clear was sent from here. Ask with %%chat."
        )
    display(replay_forms(frames), raw=True)


def _sent(view: View) -> Iterator[tuple[str, str]]:
    """Yield the messages of a request, word for word; a summary is two of them."""
    messages = iter(view.request.messages)
    for part in view.messages:
        yield _about(part), next(messages).content
        if part.state.startswith("summary"):
            yield "assistant, summary:", next(messages).content


def _about(part: ViewPart) -> str:
    turn = f"turn {part.number}" if part.number else ""
    state = "" if part.state in SAID_ABOVE else part.state
    attached = f"with {part.attached}" if part.attached else ""
    tokens = f"{'' if part.exact else '~'}{part.tokens:,} tokens"
    return f"{', '.join(filter(None, (turn, part.role, tokens, state, attached)))}:"


def _happened(view: View, before: set[int | None]) -> Iterator[str]:
    """Yield what a request lacks and what stands in its place; ``before``: turns that the one before it had."""
    numbers = {state: sorted({part.number or 0 for part in view.omitted if part.state == state}) for state in STANDING}
    gone = sorted(number for each in numbers.values() for number in each if number in before)
    if gone:
        yield f"{named_turns(gone).capitalize()} fell out now."
    yield from (f"{STANDING[state]} {named_turns(each)}." for state, each in numbers.items() if each)
