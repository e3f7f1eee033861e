"""Probabilities of tokens, as each provider tells them and as they are kept."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from dialects import DIALECTS
from server import send, serve

from jupyter_ctx import Chat, InvalidRequestError
from jupyter_ctx.context.logprobs import Token, TokenLogprob, as_one, in_pieces, shares_at
from jupyter_ctx.providers.lookup import get_provider
from jupyter_ctx.providers.server_facts import next_tokens, text_tokens

TEXTS = ("It", " is", " blue", " 🌪")
LOGITS = {"It": (2.0, 0.5, -1.0), " is": (0.1, 0.0, -0.1), " blue": (9.0, 1.0, 1.0), " 🌪": (-3.0, -4.0, -90.0)}


def softmax(logits: tuple[float, ...]) -> list[float]:
    weights = [math.exp(each) for each in logits]
    return [weight / sum(weights) for weight in weights]


def token(text: str, probability: float, *, gemini: bool) -> dict[str, Any]:
    odds = math.log(probability)
    return {"token": text, "logProbability": odds, "tokenId": 7} if gemini else {"token": text, "logprob": odds}


def with_odds(event: dict[str, Any]) -> dict[str, Any]:
    """An event with a text, and the probabilities of its token and two others."""
    delta, candidates = event.get("delta"), event.get("candidates")
    text = candidates[0]["content"]["parts"][0]["text"] if candidates else delta
    text = text or event["choices"][0]["delta"]["content"]
    chosen, *others = [
        token(name, share, gemini=bool(candidates))
        for name, share in zip((text, " a", " b"), softmax(LOGITS[text]), strict=True)
    ]
    if candidates:
        top = [{"candidates": [chosen, *others]}]
        candidates[0]["logprobsResult"] = {"chosenCandidates": [chosen], "topCandidates": top}
    elif delta:
        event["logprobs"] = [{**chosen, "top_logprobs": [chosen, *others]}]
    else:
        told = {**chosen, "bytes": list(text.encode()), "top_logprobs": [chosen, *others]}
        event["choices"][0]["logprobs"] = {"content": [told]}
    return event


def told_by(name: str) -> str:
    dialect = DIALECTS[name]
    lines = dialect.pieces(TEXTS).splitlines()
    parts = [json.dumps(with_odds(json.loads(line[6:]))) if line.startswith("data: ") else "" for line in lines]
    return "".join(f"data: {part}\n\n" for part in parts if part) + dialect.end()


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("completions", {"logprobs": True, "top_logprobs": 5}),
        ("responses", {"top_logprobs": 5, "include": ["message.output_text.logprobs"]}),
        ("google", {}),
    ],
)
@pytest.mark.usefixtures("at_once")
def test_probabilities_are_the_softmax_of_what_the_server_sent(
    name: str, asked: dict[str, Any], tmp_path: Path
) -> None:
    with serve(told_by(name), path="") as (url, seen):
        chat = DIALECTS[name].chat(url, store=str(tmp_path / "store.sqlite"), name="odds", certainty="on")
        reply = chat.send("Which colour is the sky?")
    assert asked.items() <= seen[-1].items()
    assert name != "google" or seen[-1]["generationConfig"] == {"responseLogprobs": True, "logprobs": 5}
    assert [(piece, as_one(told).token.data) for piece, told in in_pieces(reply.text, reply.tokens) if told] == [
        (text, text.encode()) for text in TEXTS
    ]
    differences = [
        abs(found.probability - expected)
        for told, text in zip(reply.tokens, TEXTS, strict=True)
        for found, expected in zip(told.top_logprobs, softmax(LOGITS[text]), strict=True)
    ]
    assert len(differences) == 12
    assert max(differences) < 1e-15
    chat.close()
    again = Chat(chat.config.model, base_url=url, store=str(tmp_path / "store.sqlite"), name="odds")
    assert again.turns[0].record.tokens == reply.tokens
    again.close()


def test_the_local_model_s_answers_and_next_tokens_have_the_same_probabilities(real_model: str) -> None:
    question = "Which colour is the sky?"
    reply = Chat(real_model, certainty="on", temperature=0, max_tokens=8).send(question)
    provider = get_provider(real_model)
    asked = {"messages": [{"role": "user", "content": question}]}
    prompt = str(provider.beside("/apply-template", asked)["prompt"])
    following = next_tokens(provider, prompt, ())
    assert following is not None
    known = {each.id: each.probability for each in following}
    assert 0.95 < sum(known.values()) < 1.001
    assert (
        max(abs(known[each.id] - each.probability) for each in reply.tokens[0].top_logprobs) < 1e-4
    )  # one is computed behind the other
    second = next_tokens(provider, prompt, [reply.tokens[0].token])
    assert second is not None
    assert second[0].id == reply.tokens[1].token.id
    assert "".join(piece for piece, _ in in_pieces(reply.text, reply.tokens)) == reply.text


def test_a_model_without_probabilities_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(InvalidRequestError):
        Chat("anthropic/claude-sonnet-5", api_key="k", certainty="on").send("Hello?")


def test_pieces_are_whole_characters_and_thoughts_are_in_none() -> None:
    smiley = "😀".encode()
    tokens = [TokenLogprob(Token(data, logprob=-1.0)) for data in (b"hm", b"So", b" ", smiley[3:], b"!", b"")]
    pieces = [(piece, [each.token.data for each in told]) for piece, told in in_pieces("So 😀! ", tokens)]
    assert pieces == [("So", [b"So"]), (" ", [b" "]), ("😀", []), ("!", [b"!"]), (" ", [])]
    assert in_pieces("as it was", ()) == [("as it was", ())]


def test_a_character_of_several_tokens_has_their_product_and_nothing_likely_in_its_place() -> None:
    smiley, other = "😀".encode(), (Token(b"No", logprob=-2.0),)
    tokens = [TokenLogprob(Token(data, logprob=-0.5), other) for data in (b"So", smiley[:2], smiley[2:3], smiley[3:])]
    (_, so), (_, face) = in_pieces("So😀", tokens)
    assert as_one(so) is tokens[0]
    assert as_one(face) == TokenLogprob(Token(smiley, logprob=-1.5))
    last_alone = TokenLogprob(Token(smiley, 111, -0.1), (Token(smiley[3:], 111, -0.1),))  # as llama.cpp reports it
    assert in_pieces("So😀", [tokens[0], last_alone]) == [("So", (tokens[0],)), ("😀", ())]


def test_a_temperature_shares_out_anew_what_the_model_told() -> None:
    tokens = [Token(b"a", logprob=math.log(0.5)), Token(b"b", logprob=math.log(0.3)), Token(b"c", logprob=-400.0)]
    assert shares_at(tokens, 1) == pytest.approx([0.5, 0.3, 0.0])
    assert shares_at(tokens, 0.5) == pytest.approx([0.25 / 0.34, 0.09 / 0.34, 0.0])
    assert shares_at(tokens, 0) == [1, 0, 0]


def test_servers_without_paths_beside_the_api_tell_no_tokens() -> None:
    with serve(lambda handler, _: send(handler, 404, "{}")) as (url, _):
        provider = get_provider("m", base_url=url)
        assert text_tokens(provider, "a") is None
        assert next_tokens(provider, "a", ()) is None
