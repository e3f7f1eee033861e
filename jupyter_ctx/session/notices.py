"""What the user is told of a turn: one line for each thing that was done without being asked."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..attachments.attached import Attached
from ..context.context_info import ContextInfo
from ..context.overflow import Overflow
from ..conversation.messages import Attachment, file_tokens
from ..errors import InvalidRequestError
from ..models.registry import KINDS_OF_FILES, Target
from ..wording import named_turns
from .complete import Completion
from .messages_sent import megabytes
from .reply_checks import Verdict
from .request_plan import RequestPlan

KEPT = (  # what was left out once: one thing, and several
    ", which is kept. %chat history shows it, %chat pin {} keeps it in view.",
    ", which are kept. %chat history shows them, %chat pin N keeps one in view.",
)
ROOM_MAKERS = ("summarise", "trim", "clear")
ABOUT_TOKENS = re.compile(r"\babout (?=[\d,]+ tokens?)")
TABLES = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".txt")  # files that pandas may read
LARGE_VALUES = 0.2  # of the limit, in one prompt
SMALL_VALUES = 400  # characters: fewer than the tokens in a fifth of any window in use
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
        names = [ABOUT_TOKENS.sub("~", part.said) for part in self.parts]
        listed = " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
        return f"With {listed}." if names else ""

    @property
    def lines(self) -> tuple[str, ...]:
        """The line, and how to send more of what is sent in part."""
        return (" ".join([self.line, *(f"{part.more}." for part in self.parts if part.more)]),) if self.parts else ()


def notices_of(
    came: Completion,
    *,
    problems: Sequence[str] = (),
    files: Iterable[Attachment] = (),
    before: str = "",
    after: str = "",
    outdated: Sequence[int] = (),
    apart: bool = False,
) -> tuple[Notice, ...]:
    """Return the lines that stand below an answer, in order.

    problems: of files that were read for the request
    files: one attachment of each kind that earlier turns have
    before, after: what to say of a summary that was written before the request, or after the answer
    outdated: the numbers of later turns that answered the version which this answer replaces
    apart: whether the request belongs to no conversation, so that there is no history
    """
    return (
        *(Notice(problem, once=problem) for problem in problems),
        *_of_the_model(came, files),
        *([Notice(before)] if before else []),
        *_of_the_fit(came, apart=apart),
        *_of_the_report(came.sent, came.whole()),
        *_of_the_future(came.sent, outdated),
        *([Notice(after)] if after else []),
    )


def _of_the_model(came: Completion, files: Iterable[Attachment]) -> Iterator[Notice]:
    """Yield what the user should know of the model."""
    target = came.planned.target
    if target.window.source == came.sent.target.window.source == "assumed":
        text = (
            f"The window of {target.model} is not known: {target.window.tokens:,} tokens are {target.window.origin}. "
            f"Set it with %chat use {target.model} --window N, or in models.json."
        )
        yield Notice(text, once=text)
    if target.thinks is False:
        yield from (Notice(line, once=line) for line in target.differences())
    if came.sent.request.top_logprobs and not came.whole().reply.tokens:
        yield Notice(f"{target.model} told no probabilities of its tokens.")
    unsent = [KINDS_OF_FILES[file.kind] for file in files if target.unsendable(file)]
    if unsent:
        what = " and ".join(unsent) if target.takes else "text only"
        does = "does not take" if target.takes else "takes"
        text = f"{target.model} {does} {what}: these files of earlier turns are not sent to it."
        yield Notice(text, once=text)


def _of_the_fit(came: Completion, *, apart: bool) -> Iterator[Notice]:
    """Yield what was done to make the request fit."""
    planned, sent, refusal = came.planned, came.sent, came.refusal
    gone = _gone(planned.gone(), summary=planned.lacks_summary)
    if gone and planned.most_bytes is not None:
        yield Notice(
            f"Left out {gone} to stay below {megabytes(planned.most_bytes)}, the most that the server may take."
        )
    elif gone:
        yield Notice(_fitted(planned, gone))
    if refusal is not None:
        done = _lighter(sent) if refusal.by_bytes else _recovered(planned, refusal.overflow or Overflow(), sent)
        where = "." if apart or refusal.by_bytes else _kept(sent.gone(planned.cut.start))
        yield Notice(done + where)
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
        remedy = (
            f"To end that, {cure}." if cure else "Its own settings say how much it reads: look for a context length."
        )
        yield Notice(
            f"The server read {usage.input_tokens:,} of about {sent.tokens:,.0f} tokens and left out the rest "
            f"without saying so. {remedy}",
            once=f"reads only a part: {target.provider.endpoint}",
        )
    elif usage.input_tokens > target.window.tokens and not usage.includes_tools:
        yield Notice(
            f"{usage.input_tokens:,} tokens were taken where the window is believed to hold {target.window.tokens:,} "
            f"({target.window.basis}): the model may not have seen all of it. "
            "If the window is larger, set it with --window."
        )


def _of_the_future(sent: RequestPlan, outdated: Sequence[int]) -> Iterator[Notice]:
    """Yield what becomes of the turn, and of older ones, in later requests."""
    scope, past = sent.scope, sent.past
    if scope.at < past.trimmed_to:
        yield Notice(f"Turn {scope.at + 1} stands before your trim: later requests leave it out.")
    if outdated:
        count, named = len(outdated), named_turns(outdated)
        later, are = ("1 later turn", "is") if count == 1 else (f"{count:,} later turns", "are")
        yield Notice(f"{later} answered the older version: {named} {are} stale in %chat history.")


def _gone(turns: Sequence[int], *, summary: bool) -> str:
    """Return what a request lacks, in words; ``turns`` are numbers."""
    parts = [*([named_turns(turns)] if turns else []), *(["the summary"] if summary else [])]
    return " and ".join(parts)


def _kept(numbers: Sequence[int]) -> str:
    """Return the end of a sentence: where turns are that were left out."""
    one, several = KEPT
    if not numbers:
        return "."
    return one.format(*numbers) if len(numbers) == 1 else several


def _fitted(planned: RequestPlan, gone: str) -> str:
    """Return what was left out before the request was sent."""
    before, settings = planned.cut.before + planned.asked, planned.target.settings
    few = planned.scope.at - planned.cut.start < settings.min_turns
    note = f" min_turns={settings.min_turns} could not be kept." if few and settings.min_turns > 1 else ""
    decision, limit = planned.decision, planned.budget.limit
    margin = "" if before > limit else " with the margin for estimates"
    is_for_the_limit = planned.cut.fits and (decision.too_large or not decision.reasons)
    causes = [f"to fit {limit:,} tokens{margin}"] if is_for_the_limit else []
    causes += [f"because of {' and '.join(decision.reasons)}"] if decision.reasons else []
    why = f" {' and '.join(causes)}" if causes else ""
    over = "" if planned.cut.fits else f": still more than the limit of {limit:,}; %chat preview shows each part"
    return f"Left out {gone}{why} ({before:,.0f} → {planned.tokens:,.0f}){over}.{note}"


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
    gone = _gone(sent.gone(refused.cut.start), summary=sent.lacks_summary and not refused.lacks_summary)
    if not gone:
        return f"Too long{figures}: sent again with a reply of at most {sent.request.max_tokens:,} tokens"
    return f"Too long{figures}: sent again without {gone}"


def _lighter(sent: RequestPlan) -> str:
    """Return how a request was made smaller that was refused for its bytes, characters or memory."""
    gone = named_turns(sent.gone()) if sent.left_out else "files of earlier turns"
    return f"Too large for the server: sent again without {gone}"


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
    limit, total = target.budget().limit, sizes.total()
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
    limit = target.budget().limit
    target.check_files(file for part in parts for file in part.files)
    tokens = [math.ceil(target.meter.tokens(part.text)) if part.text else 0 for part in parts]
    for part, count in zip(parts, tokens, strict=True):
        if count > limit:
            raise InvalidRequestError(_too_large(part, count, target))
    told = tuple(_told(part, count, target) for part, count in zip(parts, tokens, strict=True))
    large = [
        f"{part.name} is large: about {count:,} tokens, {100 * count / limit:,.0f} % of the {limit:,} that a prompt "
        "may have."
        for part, count in zip(parts, tokens, strict=True)
        if count > LARGE_VALUES * limit and not part.what
    ]
    return Along(told, tuple(large))


def _told(part: Attached, tokens: int, target: Target) -> Attached:
    whole = f"about {tokens + file_tokens(part.files, target.meter.vision):,} tokens"
    return part if part.what else replace(part, what=whole)


def _too_large(part: Attached, tokens: int, target: Target) -> str:
    size = f"{part.name} has about {tokens:,} tokens, and a prompt to {target.settings.model} may have "
    size += f"{target.budget().limit:,}"
    assumed = " (its window is assumed: --window N says how large it is)" if target.window.source == "assumed" else ""
    remedy = "attach a part of it"
    if not part.what and part.name.lower().endswith(TABLES):
        remedy = "read it into a DataFrame, df = pd.read_csv(…) or the like, and write -a df, which sends an extract"
    return f"{size}{assumed}: {remedy}. Nothing was sent."
