"""What the user is told of a turn: one line for each thing that was done without being asked."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..attachments.attached import Attached
from ..context.context_info import ContextInfo
from ..context.overflow import Overflow
from ..conversation.messages import file_tokens
from ..errors import InvalidRequestError
from ..models.registry import KINDS_OF_FILES, Target
from ..providers.base import Reply
from ..wording import named_turns
from .complete import Completion
from .reply_checks import Verdict
from .request_plan import RequestPlan
from .view import megabytes

ROOM_MAKERS = ("summarise", "trim", "clear")
CELL_NAME, MANY_CELLS = re.compile(r"In\[\d+\]"), 4  # of the notebook; from which on they are told in one
TOLD_TOKENS = re.compile(r"\babout ([\d,]+) tokens?")
ABOUT_TOKENS = re.compile(r"\babout (?=[\d,]+ tokens?)")
TABLES = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".txt")  # files that pandas may read
LARGE_VALUES = 0.2  # of the limit, in one prompt
SMALL_VALUES = 400  # characters: fewer than the tokens in a fifth of any window in use
READ_MORE = "Its own settings say how much it reads: look for a context length."
AFTER_OTHERS = "It was asked after other turns than those that stand before it here."


class Notice(NamedTuple):
    """One line for the user; where ``once`` is not empty, lines with the same ``once`` are shown a single time."""

    text: str
    once: str = ""


class Along(NamedTuple):
    """What goes with a prompt: each thing with what is sent of it and its tokens, and lines about ``large`` texts."""

    parts: tuple[Attached, ...] = ()
    large: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """All of it in one line; empty: nothing goes along."""
        cells = [part for part in self.parts if CELL_NAME.fullmatch(part.name)]
        names = [
            ABOUT_TOKENS.sub("~", part.said) for part in self.parts if len(cells) < MANY_CELLS or part not in cells
        ]
        names += [_in_one(cells)] if len(cells) >= MANY_CELLS else []
        listed = " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
        return f"With {listed}." if names else ""

    @property
    def lines(self) -> tuple[str, ...]:
        """The line, and how to send more of what is sent in part."""
        return (" ".join([self.line, *(f"{part.more}." for part in self.parts if part.more)]),) if self.parts else ()


def _in_one(cells: Sequence[Attached]) -> str:
    """Return cells of the notebook in words, with their tokens in all."""
    tokens = sum(int(size.replace(",", "")) for cell in cells for size in TOLD_TOKENS.findall(cell.what))
    changed = sum(cell.is_changed for cell in cells)
    shortened = f", {changed} of them shortened" if changed else ""
    return f"{len(cells)} cells, {cells[0].name} to {cells[-1].name} (~{tokens:,} tokens{shortened})"


def notices_of(came: Completion, *, outdated: Sequence[int] = (), apart: bool = False) -> Iterator[Notice]:
    """Yield the lines that an answer calls for.

    outdated: the numbers of later turns that answered the version which this answer replaces
    apart: whether the request belongs to no conversation, so that there is no history
    """
    verdict = came.whole()
    yield from _of_the_model(came, verdict.reply)
    yield from _of_the_fit(came, apart=apart)
    yield from _of_the_report(came.sent, verdict)
    if came.sent.scope.at < came.sent.past.trimmed_to:
        yield Notice(f"Turn {came.sent.scope.at + 1} stands before your trim: later requests leave it out.")
    if outdated:
        later, are = (f"{len(outdated):,} later turns", "are") if len(outdated) > 1 else ("1 later turn", "is")
        yield Notice(f"{later} answered the older version: {named_turns(outdated)} {are} stale in %chat history.")


def _of_the_model(came: Completion, reply: Reply) -> Iterator[Notice]:
    """Yield what the user should know of the model."""
    target, lines = came.planned.target, list[str]()
    if target.window.source == came.sent.target.window.source == "assumed":
        lines.append(
            f"The window of {target.model} is not known: {target.window.tokens:,} tokens are {target.window.origin}. "
            f"Set it with %chat use {target.model} --window N, or in models.json."
        )
    if target.thinks is False:
        lines += target.differences()
    yield from (Notice(line, once=line) for line in lines)
    if came.sent.request.top_logprobs and not reply.tokens:
        yield Notice(f"{target.model} told no probabilities of its tokens.")
    unsent = [KINDS_OF_FILES[file.kind] for file in came.planned.past.files.values() if target.unsendable(file)]
    if unsent:
        what = f"does not take {' and '.join(unsent)}" if target.takes else "takes text only"
        text = f"{target.model} {what}: these files of earlier turns are not sent to it."
        yield Notice(text, once=text)


def _of_the_fit(came: Completion, *, apart: bool) -> Iterator[Notice]:
    """Yield what was done to make the request fit."""
    planned, sent, refusal = came.planned, came.sent, came.refusal
    gone = planned.lacks()
    if gone and planned.most_bytes is not None:
        most = megabytes(planned.most_bytes)
        yield Notice(f"Left out {gone} to stay below {most}, the most that the server may take.")
    elif gone:
        yield Notice(_fitted(planned, gone))
    if refusal is not None and refusal.by_bytes:
        lacks = sent.lacks(planned) or "files of earlier turns"
        yield Notice(f"Too large for the server: sent again without {lacks}.")
    elif refusal is not None:
        again = _recovered(planned, refusal.overflow or Overflow(), sent)
        yield Notice(again + ("." if apart else _kept(sent.gone(planned.cut.start))))
    if sent.dropped:
        names = " and ".join(dict.fromkeys(file.name for file in sent.dropped))
        size = megabytes(sum(len(file.data) for file in sent.dropped))
        text = f"Left out {names} ({size}) of earlier turns: the server takes no larger request. -a sends one again."
        yield Notice(text, once=text)


def _of_the_report(sent: RequestPlan, verdict: Verdict) -> Iterator[Notice]:
    """Yield what a report tells of a prompt that was perhaps not read whole."""
    usage, target = verdict.reply.usage, sent.target
    if usage is None:
        return
    if verdict.truncated:
        cure = target.provider.truncates
        yield Notice(
            f"The server read {usage.input_tokens:,} of about {sent.tokens:,.0f} tokens and left out the rest without "
            f"saying so. {f'To end that, {cure}.' if cure else READ_MORE}",
            once=f"reads only a part: {target.provider.endpoint}",
        )
    elif usage.input_tokens > target.window.tokens and not usage.includes_tools:
        yield Notice(
            f"{usage.input_tokens:,} tokens were taken where the window is believed to hold {target.window.tokens:,} "
            f"({target.window.basis}): the model may not have seen all of it. "
            "If the window is larger, set it with --window."
        )


def _kept(numbers: Sequence[int]) -> str:
    """Return the end of a sentence: where turns are that were left out."""
    if len(numbers) == 1:
        return f", which is kept. %chat history shows it, %chat pin {numbers[0]} keeps it in view."
    return ", which are kept. %chat history shows them, %chat pin N keeps one in view." if numbers else "."


def _fitted(planned: RequestPlan, gone: str) -> str:
    """Return what was left out before the request was sent."""
    before, limit = planned.cut.before + planned.asked, planned.target.limit
    guarded = planned.size.with_margin(planned.first)
    decision, least = planned.decision, planned.target.settings.min_turns
    few = least > 1 and planned.scope.at - planned.cut.start < least
    note = f" min_turns={least} could not be kept." if few else ""
    is_for_the_limit = planned.cut.fits and (decision.too_large or not decision.reasons)
    is_guarded = is_for_the_limit and before <= limit < guarded
    size = f"{guarded:,.0f} with the margin for estimates" if is_guarded else f"{before:,.0f}"
    causes = [f"to fit {limit:,} tokens"] if is_for_the_limit else []
    causes += [f"because of {' and '.join(decision.reasons)}"] if decision.reasons else []
    over = "" if planned.cut.fits else f": still more than the limit of {limit:,}; %chat preview shows each part"
    why = f" {' and '.join(causes)}" if causes else ""
    return f"Left out {gone}{why} ({size} → {planned.tokens:,.0f}){over}.{note}"


def nearly_full(fill: float) -> str:
    """Return a line for a request that takes this share of the limit, before it is sent; above 1 it is too long."""
    if fill > 1:
        size = f"{fill:,.0f} times" if fill >= 2 else f"{100 * fill:.0f} % of"
        return f"This prompt, with what is always sent, is {size} the limit of a request: shorten it."
    return f"{100 * fill:,.0f} % after this: %chat summarise, trim or clear."


def _recovered(refused: RequestPlan, overflow: Overflow, sent: RequestPlan) -> str:
    """Return how a request was made smaller that was refused for its tokens."""
    size, limit = overflow.input_tokens, overflow.context_window or overflow.max_input_tokens
    figures = f" ({size:,} of {limit:,} tokens)" if size and limit and size > limit else ""
    if limit and not figures:
        figures = f" (the limit is {limit:,} tokens)"
    gone = sent.lacks(refused)
    if not gone:
        return f"Too long{figures}: sent again with a reply of at most {sent.request.max_tokens:,} tokens"
    return f"Too long{figures}: sent again without {gone}"


def threshold(info: ContextInfo) -> str:
    """Return the line that says how full the context window is."""
    about = "" if info.exact else "~"
    return f"Context {about}{info.fill * 100:.0f} % full: {info.used:,} of {info.limit:,} tokens."


def makes_room(commands: Sequence[str]) -> str:
    """Return a sentence about the commands that would make room now; empty: none would."""
    *some, last = commands or [""]
    return f"%chat {' or '.join(filter(None, [', '.join(some), last]))} makes room." if last else ""


def large_values(values: Sequence[tuple[str, str]], target: Target) -> str | None:
    """Return one line where values filled into a prompt take more than a fifth of the limit.

    ``values`` are pairs of an expression and its text.
    """
    sizes = Counter[str]()
    for name, text in values:
        sizes[name] += math.ceil(target.meter.tokens(text))
    limit, total = target.limit, sizes.total()
    if total <= LARGE_VALUES * limit:
        return None
    ((name, most),) = sizes.most_common(1)
    which = "" if len(sizes) == 1 else f", most of them {{{{ {name} }}}} ({most:,})"
    what = f"{{{{ {name} }}}} takes" if len(sizes) == 1 else "The values filled in take"
    return (
        f"{what} about {total:,} tokens{which}: {100 * total / limit:,.0f} % of the {limit:,} that a prompt may have."
    )


def sized(parts: Sequence[Attached], target: Target) -> Along:
    """Return what goes with a prompt: each with its tokens, and lines about the texts that are large.

    Raises InvalidRequestError where one text alone takes more than the limit, and for a file that cannot be sent.
    """
    target.check_files(file for part in parts for file in part.files)
    told, large, limit = list[Attached](), list[str](), target.limit
    for part in parts:
        tokens = math.ceil(target.meter.tokens(part.text)) if part.text else 0
        if tokens > limit:
            raise InvalidRequestError(_too_large(part, tokens, target))
        if tokens > LARGE_VALUES * limit and not part.what:
            share = f"{100 * tokens / limit:,.0f} % of the {limit:,} that a prompt may have"
            large.append(f"{part.name} is large: about {tokens:,} tokens, {share}.")
        whole = f"about {tokens + file_tokens(part.files, target.meter.vision):,} tokens"
        told.append(replace(part, what=part.what or whole))
    return Along(tuple(told), tuple(large))


def _too_large(part: Attached, tokens: int, target: Target) -> str:
    assumed = " (its window is assumed: --window N says how large it is)" if target.window.source == "assumed" else ""
    remedy = "attach a part of it"
    if not part.what and part.name.lower().endswith(TABLES):
        remedy = "read it into a DataFrame, df = pd.read_csv(…) or the like, and write -a df, which sends an extract"
    return (
        f"{part.name} has about {tokens:,} tokens, and a prompt to {target.settings.model} may have "
        f"{target.limit:,}{assumed}: {remedy}. Nothing was sent."
    )
