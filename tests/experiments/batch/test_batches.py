"""Rows asked in batches: as documented, split, cancelled, continued; no row is paid twice, wherever a run is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from batch_runs import ask, new_run
from batch_servers import ADAPTERS, Account, Accounts
from dialects import KEY
from server import send

from jupyter_ctx.context.usage import Usage
from jupyter_ctx.conversation.messages import Message
from jupyter_ctx.errors import AuthenticationError, InvalidRequestError, ProviderError, StoreError
from jupyter_ctx.experiments.batch import batch_job
from jupyter_ctx.experiments.row_request import as_tried
from jupyter_ctx.providers.adapter import Endpoint
from jupyter_ctx.providers.base import Request
from jupyter_ctx.providers.batch_services import batches_of
from jupyter_ctx.providers.lookup import get_provider
from jupyter_ctx.providers.openai_responses import Responses
from jupyter_ctx.storage.batch_records import BatchTable
from jupyter_ctx.storage.stored_answers import AnswerKey, Answers, StoredAnswer

Heard = dict[AnswerKey, StoredAnswer]
SUPPORT = str(Path(__file__).parents[2] / "support")


@pytest.fixture(params=[*ADAPTERS, "responses"])
def api(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def keeper(address: str) -> Iterator[Answers]:
    answers = Answers(address)
    yield answers
    answers.close()


@pytest.fixture
def in_memory() -> Iterator[Answers]:
    answers = Answers("memory")
    yield answers
    answers.close()


def provider_of(server: Accounts, api: str, account: str = "a") -> Any:
    if api == "responses":  # as at OpenAI's own address
        return Responses(Endpoint("openai", "m", server.base_url(account), KEY))
    return get_provider(f"{api}/m", base_url=server.base_url(account), api_key=KEY)


@pytest.fixture
def provider(server: Accounts, api: str) -> Any:
    return provider_of(server, api)


def rows(count: int, begin: int = 0) -> dict[AnswerKey, Request]:
    return {
        (f"d{row}", 0): Request((Message("user", f"row {row}"),), max_tokens=50) for row in range(begin, begin + count)
    }


def texts(heard: Heard) -> list[str]:
    return sorted(answer.text for answer in heard.values())


def test_every_row_is_answered_stored_and_paid_once(provider: Any, account: Account, keeper: Answers) -> None:
    requests = rows(7)
    heard = ask(keeper, provider, requests)
    assert heard.keys() == requests.keys()
    assert texts(heard) == [f"re: row {row}" for row in range(7)]
    assert account.paid == {f"row {row}": 1 for row in range(7)}
    assert len(account.batches) == 1
    stored = keeper.find(requests)
    assert {key: answer.text for key, answer in stored.items()} == {key: answer.text for key, answer in heard.items()}
    answered = as_tried(stored["d3", 0]).answered
    assert answered is not None
    reply = answered.reply
    assert (reply.text, reply.usage, reply.stop_reason, reply.model, reply.stored) == (
        "re: row 3", Usage(9, 2), "stop", "m", True,
    )  # fmt: skip
    assert BatchTable(keeper).open(provider.endpoint) == []


SAMPLES = {
    "plain": Request((Message("user", "Hi"),)),
    "tuned": Request(
        (Message("system", "Be kind."), Message("user", "a"), Message("assistant", "b"), Message("user", "Hi ☀")),
        max_tokens=5, temperature=0.5, parameters={"seed": 1}, cache_key="c",
    ),
}  # fmt: skip


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("model", ["openai/m", "anthropic/m", "m"])
def test_a_request_in_a_batch_is_the_one_that_would_be_sent_without_streaming(model: str, sample: str) -> None:
    provider = get_provider(model, base_url="http://127.0.0.1:9/v1", api_key=KEY)
    line = json.loads(batches_of(provider).line("x-1", SAMPLES[sample]))
    body = line.get("params") or line["body"]
    streamed = provider.body(SAMPLES[sample])  # type: ignore[attr-defined]
    assert body == {name: value for name, value in streamed.items() if name not in ("stream", "stream_options")}
    assert line["custom_id"] == "x-1"
    if model != "anthropic/m":
        assert (line["method"], line["url"]) == ("POST", "/v1/chat/completions")


def test_openai_itself_is_asked_by_the_responses_api() -> None:
    service = batches_of(get_provider("openai/gpt-5.2", api_key=KEY))
    line = json.loads(service.line("x-1", SAMPLES["tuned"]))
    assert (line["url"], line["body"]["max_output_tokens"], line["body"]["store"]) == ("/v1/responses", 5, False)
    assert (service.most_requests, service.most_bytes) == (50_000, 200_000_000)


@pytest.mark.parametrize("model", ["google/gemini-3-pro", "local/smollm2", "ollama/llama3.2", "groq/llama"])
def test_a_provider_without_batches_is_named(model: str, in_memory: Answers) -> None:
    with pytest.raises(InvalidRequestError, match=f"{model} takes no batches here: batch=True works with .* openai"):
        new_run(in_memory, get_provider(model, api_key=KEY), rows(1))


def test_one_row_s_error_is_that_row_s(provider: Any, account: Account, in_memory: Answers) -> None:
    fates = {
        "row 1": "This model's maximum context length is 100 tokens. However, your messages resulted in 200 tokens.",
        "row 2": "expired", "row 3": "lost", "row 4": "bad",
    }  # fmt: skip
    account.fate = lambda prompt: fates.get(prompt, "succeeded")
    heard = ask(in_memory, provider, rows(6))
    said = {int(digest[1:]): answer.error for (digest, _), answer in heard.items()}
    assert (said[0], said[5]) == ("", "")
    assert "maximum context length" in said[1]
    assert "had no time for it within 24 hours" in said[2]
    assert "ended without an answer to this row" in said[3]
    assert "refused (400): bad" in said[4]
    assert not any(KEY in text for text in said.values())
    assert in_memory.find(rows(6), failed=False).keys() == {("d0", 0), ("d5", 0)}
    fates.clear()
    missing = {key: request for key, request in rows(6).items() if heard[key].failed}
    assert texts(ask(in_memory, provider, missing)) == [f"re: row {row}" for row in range(1, 5)]
    assert account.paid == {f"row {row}": 1 for row in range(6)}


def test_a_batch_that_is_refused_as_a_whole_names_the_row_at_fault(
    server: Accounts, account: Account, in_memory: Answers
) -> None:
    account.fate = lambda prompt: "fail all"
    heard = ask(in_memory, provider_of(server, "openai"), rows(2))
    assert {answer.error for answer in heard.values()} == {
        f"{server.base_url('a')} refused the batch: no reason was given."
    }


def test_more_rows_than_a_batch_takes_go_into_several(
    provider: Any, account: Account, in_memory: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(batches_of(provider)), "most_requests", 3)
    assert texts(ask(in_memory, provider, rows(8))) == [f"re: row {row}" for row in range(8)]
    assert [len(batch.requests) for batch in account.batches.values()] == [3, 3, 2]


def test_a_row_that_no_batch_takes_fails_alone(
    provider: Any, account: Account, in_memory: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(batches_of(provider)), "most_bytes", 1_000)
    large = Request((Message("user", "x" * 2_000),), max_tokens=5)
    strange = Request((Message("user", "y"),), parameters={"seed": object()})
    heard = ask(in_memory, provider, {**rows(2), ("large", 0): large, ("strange", 0): strange})
    assert "bytes, and a batch takes 1,000: send fewer or smaller files" in heard["large", 0].error
    assert "seed cannot be sent as JSON" in heard["strange", 0].error
    assert texts(heard) == ["", "", "re: row 0", "re: row 1"]


# stopping, and going on


def in_thread(keeper: Answers, provider: Any, requests: dict[AnswerKey, Request], **more: Any) -> Any:
    heard: Heard = {}
    thread = threading.Thread(target=lambda: heard.update(ask(keeper, provider, requests, **more)))
    thread.start()
    return thread, heard


def until(condition: Any) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_cancelling_ends_the_batches_and_keeps_what_came(provider: Any, account: Account, keeper: Answers) -> None:
    account.looks_to_end = -1
    ended_before = next(iter(rows(1)))
    account.fate = lambda prompt: "succeeded"
    cancelled = threading.Event()
    thread, heard = in_thread(keeper, provider, rows(4), cancelled=cancelled)
    until(lambda: account.batches)
    cancelled.set()
    thread.join(60)
    assert not thread.is_alive()
    assert heard == {}
    assert keeper.find(rows(4)) == {}
    assert sum(path.endswith("cancel") for path in account.calls) == 1
    account.looks_to_end = 0
    assert len(ask(keeper, provider, rows(4))) == 4
    assert account.paid[f"row {ended_before[0][1:]}"] == 1


def test_leaving_a_run_leaves_its_batches_to_the_next_one(provider: Any, account: Account, keeper: Answers) -> None:
    account.looks_to_end = -1
    left = threading.Event()
    thread, heard = in_thread(keeper, provider, rows(4), left=left)
    until(lambda: any(call.startswith("GET") and "batch" in call for call in account.calls))
    left.set()
    thread.join(60)
    assert heard == {}
    account.looks_to_end = 0
    more = {**rows(2), **rows(2, begin=10)}  # other rows are asked besides; what was asked before is kept for later
    assert texts(ask(keeper, provider, more)) == ["re: row 0", "re: row 1", "re: row 10", "re: row 11"]
    assert keeper.find(rows(4)).keys() == rows(4).keys()
    assert set(account.paid.values()) == {1}


def test_two_runs_of_the_same_rows_pay_once(provider: Any, account: Account, keeper: Answers, address: str) -> None:
    other = Answers(address)
    account.looks_to_end = 4
    pairs = [in_thread(each, provider, rows(6)) for each in (keeper, other)]
    for thread, _ in pairs:
        thread.join(60)
    other.close()
    assert [texts(heard) for _, heard in pairs] == [[f"re: row {row}" for row in range(6)]] * 2
    assert account.paid == {f"row {row}": 1 for row in range(6)}


def test_what_passes_is_waited_for_and_said_once(provider: Any, account: Account, in_memory: Answers) -> None:
    left = {"GET": 3, "POST": 2}

    def fail(step: str, handler: Any) -> bool:
        method = step.partition(" ")[0]
        if left.get(method, 0) == 0:
            return False
        left[method] -= 1
        send(handler, 503 if method == "GET" else 429, json.dumps({"error": {"message": "overloaded"}}))
        return True

    account.on = fail
    heard = ask(in_memory, provider, rows(3))
    assert texts(heard) == ["re: row 0", "re: row 1", "re: row 2"]
    assert account.paid == {f"row {row}": 1 for row in range(3)}
    assert 1 <= len(in_memory.notices) <= 2


def hanging_up(account: Account, looks: int = 2) -> list[str]:
    """Let the account hang up once instead of saying that a batch has begun; the steps at which it did."""
    lost: list[str] = []

    def hang_up(step: str, handler: Any) -> bool:
        if step.startswith("done POST") and step.endswith("batches") and not lost:
            lost.append(step)
            account.looks_to_end = looks
            handler.close_connection = True
            return True
        return False

    account.on = hang_up
    return lost


def test_an_answer_that_got_lost_on_its_way_is_no_reason_to_pay_again(
    provider: Any, account: Account, in_memory: Answers
) -> None:
    lost = hanging_up(account)
    heard = ask(in_memory, provider, rows(5))
    assert len(lost) == 1
    assert texts(heard) == [f"re: row {row}" for row in range(5)]
    assert set(account.paid.values()) == {1}


def test_a_key_that_is_refused_ends_the_run_and_leaves_nothing_behind(
    provider: Any, account: Account, in_memory: Answers
) -> None:
    account.on = lambda step, handler: send(handler, 401, '{"error": {"message": "bad key"}}') or True
    with pytest.raises(AuthenticationError, match="rejected the key"):
        ask(in_memory, provider, rows(2))
    assert BatchTable(in_memory).open(provider.endpoint) == []


def test_a_batch_that_another_key_has_begun_is_not_paid_again(
    provider: Any, account: Account, in_memory: Answers
) -> None:
    account.looks_to_end = -1
    left = threading.Event()
    thread, _ = in_thread(in_memory, provider, rows(2), left=left)
    until(lambda: any(call.startswith("GET") for call in account.calls))
    left.set()
    thread.join()
    (known,) = account.batches
    kept = account.batches.pop(known)
    with pytest.raises(ProviderError, match=f"does not know the batch {known} with this key"):
        ask(in_memory, provider, rows(2))
    account.batches[known], account.looks_to_end = kept, 0
    assert len(ask(in_memory, provider, rows(2))) == 2
    assert set(account.paid.values()) == {1}


def test_nothing_is_sent_while_the_store_cannot_take_the_intention(
    provider: Any, account: Account, tmp_path: Path
) -> None:
    answers = Answers(tmp_path)  # a folder
    with pytest.raises(StoreError, match="is a folder"):
        ask(answers, provider, rows(2))
    assert account.calls == []


def test_a_store_that_fails_meanwhile_costs_no_answer(provider: Any, account: Account, tmp_path: Path) -> None:
    file = tmp_path / "store.sqlite"
    keeper = Answers(file)
    account.looks_to_end = 3
    broken: list[str] = []

    def break_store(step: str, handler: Any) -> bool:
        if step.startswith("done POST") and step.endswith("batches") and not broken:
            file.rename(tmp_path / "away")  # the batch's id cannot be written
            file.mkdir()
            broken.append("broken")
        elif step.startswith("GET") and broken == ["broken"]:
            broken.append("looked")
        elif len(broken) == 2:
            file.rmdir()
            (tmp_path / "away").rename(file)
            broken.append("mended")
        return False

    account.on = break_store
    heard = ask(keeper, provider, rows(3))
    assert len(broken) == 3
    assert texts(heard) == ["re: row 0", "re: row 1", "re: row 2"]
    assert keeper.find(rows(3)).keys() == rows(3).keys()
    assert set(account.paid.values()) == {1}
    keeper.close()


def test_a_batch_that_the_store_has_lost_is_not_paid_again(
    provider: Any, account: Account, keeper: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    account.looks_to_end = 4
    gone = list[str]()

    def lose(step: str, handler: Any) -> bool:
        if step.startswith("GET") and not gone:
            gone.append(step)
            keeper.delete_all()
        return False

    account.on = lose
    monkeypatch.setattr(batch_job, "SIGN_OF_LIFE", 0.0)
    assert len(ask(keeper, provider, rows(3))) == 3
    assert gone
    assert set(account.paid.values()) == {1}
    assert BatchTable(keeper).open(provider.endpoint) == []


@pytest.mark.parametrize("looks", [0, 3])
def test_an_orphan_is_found_among_batches_of_others(
    provider: Any, account: Account, in_memory: Answers, looks: int
) -> None:
    other = Answers("memory")
    account.looks_to_end = 0
    for begin in (10, 20):
        ask(other, provider, rows(3, begin=begin))
    account.looks_to_end, left = -1, threading.Event()
    thread, _ = in_thread(other, provider, rows(3, begin=30), left=left)
    until(lambda: len(account.batches) == 3)
    left.set()
    thread.join()
    lost = hanging_up(account, looks)
    assert texts(ask(in_memory, provider, rows(3))) == ["re: row 0", "re: row 1", "re: row 2"]
    assert lost
    assert {account.paid[f"row {row}"] for row in range(3)} == {1}
    other.close()


# killed

DRIVER = """
import json, os, signal, sys
from jupyter_ctx.conversation.messages import Message
from jupyter_ctx.experiments.batch import batch_job, batch_run
from jupyter_ctx.providers.base import Request
from jupyter_ctx.providers.batch_services import BatchService, batches_of
from jupyter_ctx.providers.lookup import get_provider
from jupyter_ctx.storage import stored_answers as stored
from jupyter_ctx.storage.batch_records import BatchTable
from jupyter_ctx.storage.stored_answers import Answers

url, api, folder, begin, end, step, support = sys.argv[1:]
sys.path.insert(0, support)
from batch_runs import ask
batch_job.FIRST_WAIT = batch_run.FIRST_WAIT = 0.01
batch_job.LONGEST_WAIT, batch_job.SETTLE = 0.02, 0.25
requests = {(f"d{row}", 0): Request((Message("user", f"row {row}"),), max_tokens=5) for row in range(7)}

def run(account, kill_at):
    provider = get_provider(f"{api}/m", base_url=f"{url}/{account}/v1", api_key="key-0123456789")
    service = type(batches_of(provider))
    service.most_requests = 3
    moments = iter(range(10_000))

    def marked(owner, name):
        plain = getattr(owner, name)
        def wrapped(*arguments, **more):
            moment()
            done = plain(*arguments, **more)
            moment()
            return done
        setattr(owner, name, wrapped)

    def moment():
        if next(moments) == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    for name in ("open", "intend", "take", "change", "end"):
        marked(BatchTable, name)
    for name in ("upload", "submit", "status", "listed"):
        marked(service, name)
    marked(Answers, "keep")
    marked(Answers, "settle")
    with open(f"{folder}/{account}.pid", "w") as file:
        file.write(str(os.getpid()))
    answers = Answers(f"{folder}/{account}.sqlite")
    missing = {key: request for key, request in requests.items() if key not in answers.find(requests)}
    ask(answers, provider, missing)
    found = {digest: answer.text for (digest, _), answer in answers.find(requests).items()}
    left = len(BatchTable(answers).open(provider.endpoint))
    with open(f"{folder}/{account}.json", "w") as file:
        json.dump({"found": found, "left": left, "moments": next(moments)}, file)
    answers.close()

warm = get_provider(f"{api}/m", base_url=f"{url}/warm/v1", api_key="key-0123456789")
try:
    batches_of(warm).status("none")
except Exception:
    pass
warm.close()
for number in range(int(begin), int(end), int(step)):
    for kill_at in (number, -1):
        child = os.fork()
        if child == 0:
            try:
                run(f"{api}{number}", kill_at)
                os._exit(0)
            except BaseException:
                import traceback
                traceback.print_exc()
                os._exit(1)
        status = os.waitpid(child, 0)[1]
        assert status in (0, signal.SIGKILL), (number, status)
    print(number, flush=True)
"""


def driven(server: Accounts, api: str, folder: Path, begin: int, end: int, step: int) -> dict[int, dict[str, Any]]:
    command = [sys.executable, "-c", DRIVER, server.url, api, str(folder), str(begin), str(end), str(step), SUPPORT]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return {
        number: json.loads((folder / f"{api}{number}.json").read_text("utf-8")) for number in range(begin, end, step)
    }


def check_whole(account: Account, told: dict[str, Any]) -> None:
    assert told["found"] == {f"d{row}": f"re: row {row}" for row in range(7)}
    assert account.paid == {f"row {row}": 1 for row in range(7)}
    assert told["left"] == 0


@pytest.mark.parametrize("api", ADAPTERS, indirect=True)
@pytest.mark.parametrize(
    ("begin", "end", "step"), [(4, 60, 19), pytest.param(0, 130, 1, marks=pytest.mark.load)], ids=["some", "every"]
)
def test_a_run_that_is_killed_at_any_step_pays_for_no_row_twice(
    server: Accounts, api: str, tmp_path: Path, begin: int, end: int, step: int
) -> None:
    for number, told in driven(server, api, tmp_path, begin, end, step).items():
        check_whole(server[f"{api}{number}"], told)


@pytest.mark.parametrize("api", ["openai"], indirect=True)
def test_two_processes_that_ask_the_same_rows_pay_once(server: Accounts, api: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", DRIVER, server.url, api, str(tmp_path), "9000", "9001", "1", SUPPORT]
    server[f"{api}9000"].looks_to_end = 5
    both = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [process.wait(60) for process in both] == [0, 0]
    check_whole(server[f"{api}9000"], json.loads((tmp_path / f"{api}9000.json").read_text("utf-8")))


MOMENTS = ("uploading", "POST batches", "done POST batches", "results")


def killing(folder: Path, account: str, moment: str, killed: list[str]) -> Any:
    """What an account does at a step: it kills who asks, once."""

    def kill(step: str, handler: Any) -> bool:
        begins = moment.endswith("batches") and step.endswith("batches") and step.startswith(moment.rpartition(" ")[0])
        if account in killed or not (step == moment or begins):
            return False
        killed.append(account)
        os.kill(int((folder / f"{account}.pid").read_text()), signal.SIGKILL)
        handler.close_connection = True
        return moment != "done POST batches"

    return kill


@pytest.mark.parametrize("api", ADAPTERS, indirect=True)
def test_a_run_that_is_killed_while_the_provider_is_talking_pays_for_no_row_twice(
    server: Accounts, api: str, tmp_path: Path
) -> None:
    killed: list[str] = []
    for number, moment in enumerate(MOMENTS, 1000):
        server[f"{api}{number}"].on = killing(tmp_path, f"{api}{number}", moment, killed)
    for number, told in driven(server, api, tmp_path, 1000, 1004, 1).items():
        check_whole(server[f"{api}{number}"], told)
    assert len(killed) == len(MOMENTS) - (api == "anthropic")  # which has no upload of its own
