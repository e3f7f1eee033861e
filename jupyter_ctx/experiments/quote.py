"""Tell the price of a run before it begins, and ask where it is high."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..config.settings import Settings
from ..errors import InvalidRequestError
from ..models.registry import Models, Target
from ..providers.base import Reply
from ..providers.lookup import batches_of
from .ask import Ask, Asker
from .judges import Judge
from .money import COUNTED_ROWS, Estimate, Part, check_prices, count_tokens
from .options import Options
from .plan import AnswerPlace, Looked, RunPlan
from .results import Result


def with_limit(models: Models, settings: Settings) -> Settings:
    """Return settings with the ``max_tokens`` that is planned with, where none would be sent."""
    target = models.target(settings, ask=False)
    return settings if target.max_tokens is not None else settings.changed({"max_tokens": target.reserve})


def quoted(
    plan: RunPlan,
    looked: Looked,
    asker: Asker,
    missing: Sequence[AnswerPlace],
    judges: Mapping[str, Judge],
    pilots: Sequence[Result] = (),
    *,
    batch: bool = False,
) -> Estimate:
    """Return what the missing answers may take.

    ``batch``: providers that take batches are asked in them.
    """
    parts = list[Part]()
    for number, arm in enumerate(plan.arms):
        places = [place for place in missing if place.arm == number]
        if not places:
            continue
        asks = [plan.ask(place.row, place.arm) for place in _spread(places)]
        outputs = [each for each in pilots if each.arm == arm.label and each.reply is not None]
        part = _part(asker, asks, len(places))
        part = replace(part, input_tokens=part.input_tokens * _reported(part.target, asks[0].system, outputs))
        spent = sum(each.reply.cost or 0.0 for each in outputs if each.reply is not None)
        shared = part.input_tokens * _shared(looked, places, asks)
        written = [tokens for each in outputs if (tokens := _written(each)) is not None]
        parts.append(replace(part, shared_tokens=shared, spent=spent, outputs=written, is_capped=arm.is_capped))
        parts += [_judged(asker, plan, places, judge) for judge in judges.values()]
    return Estimate.of(asker.models, [_in_a_batch(part) for part in parts] if batch else parts)


def _in_a_batch(part: Part) -> Part:
    """Return the requests of a part as they are asked in batches, where nothing is written to prompt caches."""
    try:
        batches_of(part.target.provider)
    except InvalidRequestError:
        return part
    return replace(part, is_batch=True, shared_tokens=0.0)


def check_price(models: Models, settings: Sequence[Settings], options: Options) -> None:
    """Raise InvalidRequestError where there is a cap and the price of a model is unknown."""
    if options.max_cost is not None:
        check_prices(models, [models.target(each, ask=False) for each in settings], options.max_cost)


def check_agreed(estimate: Estimate, settings: Settings, options: Options) -> None:
    """Ask the user where a run is dear or large. Raises InvalidRequestError unless the user agrees."""
    if options.yes or not estimate.is_above(settings.confirm_cost, settings.confirm_rows):
        return
    if options.agree is None:
        raise InvalidRequestError(
            f"{estimate} That is above confirm_cost or confirm_rows, and nobody can be asked here: "
            "yes=True (--yes in a cell) begins it. Nothing was sent."
        )
    if not options.agree(f"{estimate} Begin?"):
        sent = "only the pilot was asked, and its answers are kept" if estimate.pilots else "nothing was sent"
        raise InvalidRequestError(f"Not begun: {sent}.")


def _part(asker: Asker, asks: Sequence[Ask], count: int) -> Part:
    """Return the requests to one model, of which ``asks`` are some, evenly spread."""
    target = asker.target(asks[0], server=False)
    texts = [ask.messages[-1].content for ask in asks]
    system = target.meter.message(asks[0].system) * len(asks)
    tokens = count_tokens(target.meter, texts) + system + _overhead(target) * len(asks)
    longest = target.meter.message(max(texts, key=len)) + system / len(asks)
    return Part(target, count, tokens / len(asks) * count, longest)


def _reported(target: Target, system: str, pilots: Sequence[Result]) -> float:
    """Return how many times their estimated input the answered pilots had, as reported: 1 where nothing was."""
    seen = [
        (each.prompt, each.reply.usage) for each in pilots if each.reply is not None and each.reply.usage is not None
    ]
    always = target.meter.message(system) + _overhead(target)
    estimated = sum(target.meter.message(prompt) + always for prompt, _ in seen)
    return sum(usage.input_tokens for _, usage in seen) / estimated if estimated else 1.0


def _overhead(target: Target) -> float:
    """Return the tokens that the model's template adds, as far as reports have shown them."""
    return target.meter.learned.overhead or 0.0


def _judged(asker: Asker, plan: RunPlan, places: Sequence[AnswerPlace], judge: Judge) -> Part:
    """Return the requests of a judge, as if every answer were as long as its prompt."""
    asks = list[Ask]()
    for place in _spread(places)[:100]:
        prompt = plan.prompt(place.row, place.arm)
        arm = plan.arms[place.arm]
        asks.append(judge.ask(Result(place.row, arm.label, 0, plan.rows[place.row], arm.values, prompt, Reply(prompt))))
    return _part(asker, asks, len(places))


def _spread(places: Sequence[AnswerPlace]) -> Sequence[AnswerPlace]:
    """Return at most as many places as are counted, evenly spread."""
    return places[:: -(-len(places) // COUNTED_ROWS)]


def _shared(looked: Looked, places: Sequence[AnswerPlace], asks: Sequence[Ask]) -> float:
    """Return the share of the input that a prompt cache holds once the first request of each group was answered."""
    whole = sum(len(message.content) for ask in asks for message in ask.messages)
    groups, shared = set[int | None](), 0
    for place in _spread(places):
        length, group = looked.shared(place.row, place.arm), looked.groups[place.arm][place.row]
        if length is not None:
            shared += length if group in groups else 0
            groups.add(group)
    return shared / whole if whole else 0.0


def _written(result: Result) -> int | None:
    return result.reply.usage.output_tokens if result.reply is not None and result.reply.usage is not None else None
