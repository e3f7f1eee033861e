"""Batch APIs of OpenAI and Anthropic on loopback, with the documented formats; what they are paid for is counted.

The first part of a path names an account, with batches of its own: ``http://127.0.0.1:PORT/ACCOUNT/v1``.
"""

from __future__ import annotations

import itertools
import json
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from typing import Any

from server import running, send

FATES = ("succeeded", "errored", "canceled", "expired")
ADAPTERS = ("openai", "anthropic")


def prompt_of(body: dict[str, Any]) -> str:
    """The user's last message in a body of any of the three APIs."""
    text: str = (body.get("input") or body["messages"])[-1]["content"]
    return text


@dataclass
class BatchOf:
    """One batch: its requests by their own ids, and what became of them."""

    id: str
    requests: dict[str, dict[str, Any]]
    made_of: dict[str, Any]
    created: float
    looks: int = 0
    ended: str = ""  # the last status
    errors: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class Account:
    """What one key sees.

    looks_to_end: how often a batch is looked at before it has ended; -1: until it is told to
    fate: what becomes of a request, by its prompt: "succeeded", or an error's message; "expired", "canceled"
    text: the answer to a body
    paid: how often each prompt was answered
    on: is called with the name of a step and the handler; where it returns True, nothing more is done
    """

    looks_to_end: int = 2
    fate: Callable[[str], str] = lambda prompt: "succeeded"
    text: Callable[[dict[str, Any]], str] = lambda body: f"re: {prompt_of(body)}"
    on: Callable[[str, BaseHTTPRequestHandler], object] = lambda step, handler: None
    batches: dict[str, BatchOf] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    paid: Counter[str] = field(default_factory=Counter)
    calls: list[str] = field(default_factory=list)
    page: int = 2

    def end(self, batch: BatchOf, state: str) -> None:
        if not batch.ended:
            batch.ended = state
            for body in batch.requests.values():
                if self.outcome(batch, body) == "succeeded":
                    self.paid[prompt_of(body)] += 1

    def outcome(self, batch: BatchOf, body: dict[str, Any]) -> str:
        if batch.ended in ("failed", "cancelled"):
            return "canceled"
        return self.fate(prompt_of(body))

    def look(self, batch: BatchOf, state: str) -> None:
        batch.looks += 1
        if 0 <= self.looks_to_end < batch.looks and not batch.ended:
            self.end(batch, state)


class Accounts(defaultdict[str, Account]):
    """The accounts by their names; ``url`` is where the server listens."""

    url = ""

    def base_url(self, account: str) -> str:
        return f"{self.url}/{account}/v1"


@contextmanager
def batch_server() -> Iterator[Accounts]:
    """A server that speaks both APIs."""
    accounts = Accounts(Account)
    numbers = itertools.count(1)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.answer("GET", b"")

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"] or 0)
            account = accounts[self.path.split("/")[1]]
            if "/files" in self.path and account.on("uploading", self):
                return
            self.answer("POST", self.rfile.read(length))

        def answer(self, method: str, body: bytes) -> None:
            name, _, path = self.path.lstrip("/").partition("/")
            account = accounts[name]
            path, _, query = path.partition("?")
            account.calls.append(f"{method} {path}")
            if account.on(f"{method} {path}", self):
                return
            api = anthropic if "messages/batches" in path else openai
            status, answer = api(account, method, path, dict(re.findall(r"(\w+)=([^&]+)", query)), body, next(numbers))
            if isinstance(answer, bytes):
                if account.on("results", self):
                    return
                send(self, status, answer.decode(), "application/octet-stream")
            else:
                if account.on(f"done {method} {path}", self):
                    return
                send(self, status, json.dumps(answer))

        def log_message(self, *_: Any) -> None:
            pass

    with running(Handler) as url:
        accounts.url = url
        yield accounts


def refused(status: int, message: str, kind: str = "invalid_request_error") -> tuple[int, Any]:
    return status, {"type": "error", "error": {"type": kind, "message": message}}


def paged(account: Account, found: list[Any], after: str | None) -> dict[str, Any]:
    """A page of the newest."""
    newest = found[::-1]
    begin = [item["id"] for item in newest].index(after) + 1 if after else 0
    page = newest[begin : begin + account.page]
    ids = {"first_id": page[0]["id"], "last_id": page[-1]["id"]} if page else {"first_id": None, "last_id": None}
    return {"object": "list", "data": page, "has_more": begin + account.page < len(newest), **ids}


# OpenAI: https://platform.openai.com/docs/api-reference/batch


def openai(
    account: Account, method: str, path: str, query: dict[str, str], body: bytes, number: int
) -> tuple[int, Any]:
    match [method, *path.split("/")]:
        case ["POST", "v1", "files"]:
            boundary = body.split(b"\r\n", 1)[0]
            parts = dict(re.findall(rb'name="(\w+)".*?\r\n\r\n(.*?)\r\n(?=%s)' % re.escape(boundary), body, re.DOTALL))
            assert parts[b"purpose"] == b"batch"
            account.files[f"file-{number}"] = parts[b"file"]
            return 200, {"id": f"file-{number}", "object": "file", "bytes": len(parts[b"file"]), "purpose": "batch",
                         "created_at": int(time.time()), "filename": "x.jsonl", "status": "processed"}  # fmt: skip
        case ["GET", "v1", "files", file, "content"]:
            return 200, account.files[file]
        case ["POST", "v1", "batches"]:
            return openai_begun(account, json.loads(body), number)
        case ["GET", "v1", "batches"]:
            return 200, paged(account, [shown_openai(batch) for batch in account.batches.values()], query.get("after"))
        case ["GET", "v1", "batches", known] if known in account.batches:
            batch = account.batches[known]
            account.look(batch, "completed")
            openai_files(account, batch)
            return 200, shown_openai(batch)
        case ["POST", "v1", "batches", known, "cancel"] if known in account.batches:
            account.end(account.batches[known], "cancelled")
            return 200, shown_openai(account.batches[known])
    return refused(404, f"No such batch: {path}")


def openai_begun(account: Account, made_of: dict[str, Any], number: int) -> tuple[int, Any]:
    if made_of.keys() != {"input_file_id", "endpoint", "completion_window", "metadata"}:
        return refused(400, "Unknown parameter")
    assert made_of["completion_window"] == "24h"
    assert all(isinstance(value, str) for value in made_of["metadata"].values())
    lines = [json.loads(line) for line in account.files[made_of["input_file_id"]].splitlines()]
    errors = [
        {"code": "url_mismatch", "line": place, "message": "The URL does not match.", "param": None}
        for place, line in enumerate(lines, 1)
        if line.keys() != {"custom_id", "method", "url", "body"} or line["url"] != made_of["endpoint"]
    ]
    requests = {line["custom_id"]: line["body"] for line in lines}
    if len(requests) < len(lines) or len({body["model"] for body in requests.values()}) != 1:
        errors.append({"code": "duplicate_custom_id", "line": 1, "message": "An id is there twice.", "param": None})
    batch = BatchOf(f"batch_{number}", requests, made_of, time.time(), errors=errors)
    account.batches[batch.id] = batch
    if errors or any(account.fate(prompt_of(body)) == "fail all" for body in requests.values()):
        account.end(batch, "failed")
    return 200, shown_openai(batch)


def shown_openai(batch: BatchOf) -> dict[str, Any]:
    said = {"object": "list", "data": batch.errors} if batch.errors else None
    total = len(batch.requests)
    files = {name: f"{batch.id}-{name}" if batch.ended in ("completed", "expired", "cancelled") else None
             for name in ("output_file_id", "error_file_id")}  # fmt: skip
    counts = {"total": total, "completed": total if batch.ended == "completed" else 0, "failed": 0}
    return {
        "id": batch.id, "object": "batch", "endpoint": batch.made_of["endpoint"], "errors": said,
        "input_file_id": batch.made_of["input_file_id"], "completion_window": "24h",
        "status": batch.ended or "in_progress", "created_at": int(batch.created),
        "request_counts": counts, "metadata": batch.made_of["metadata"], **files,
    }  # fmt: skip


def openai_files(account: Account, batch: BatchOf) -> None:
    if not batch.ended:
        return
    answers, errors = [], []
    for request_id, body in batch.requests.items():
        outcome, line = account.outcome(batch, body), {"id": f"batch_req_{request_id}", "custom_id": request_id}
        if outcome == "succeeded":
            response = {"status_code": 200, "request_id": "r", "body": openai_answer(body, account.text(body))}
            answers.append({**line, "response": response, "error": None})
        elif outcome in ("expired", "canceled"):
            code = {"expired": "batch_expired", "canceled": "batch_cancelled"}[outcome]
            errors.append({**line, "response": None, "error": {"code": code, "message": "It was not executed."}})
        elif outcome != "lost":
            refusal = {"error": {"message": outcome, "type": "invalid_request_error", "param": None, "code": None}}
            response = {"status_code": 400, "request_id": "r", "body": refusal}
            errors.append({**line, "response": response, "error": None})
    for name, lines in (("output_file_id", answers), ("error_file_id", errors)):
        account.files[f"{batch.id}-{name}"] = "".join(json.dumps(line) + "\n" for line in reversed(lines)).encode()


def openai_answer(body: dict[str, Any], text: str) -> dict[str, Any]:
    if "messages" in body:
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        report = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}
        return {"id": "c", "object": "chat.completion", "model": body["model"], "choices": [choice], "usage": report}
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
    report = {"input_tokens": 9, "output_tokens": 2, "total_tokens": 11}
    return {"object": "response", "status": "completed", "model": body["model"], "error": None, "output": [message],
            "incomplete_details": None, "usage": report}  # fmt: skip


# Anthropic: https://platform.claude.com/docs/en/api/messages/batches


def anthropic(
    account: Account, method: str, path: str, query: dict[str, str], body: bytes, number: int
) -> tuple[int, Any]:
    match [method, *path.split("/")]:
        case ["POST", "v1", "messages", "batches"]:
            given = json.loads(body)
            assert given.keys() == {"requests"}
            ids = [request["custom_id"] for request in given["requests"]]
            if len(set(ids)) < len(ids) or not all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", each) for each in ids):
                return refused(400, "custom_id: must be unique")
            requests = {request["custom_id"]: request["params"] for request in given["requests"]}
            assert all("stream" not in params and params["max_tokens"] for params in requests.values())
            batch = BatchOf(f"msgbatch_{number}", requests, {}, time.time())
            account.batches[batch.id] = batch
            return 200, shown_anthropic(account, batch)
        case ["GET", "v1", "messages", "batches"]:
            found = [shown_anthropic(account, batch) for batch in account.batches.values()]
            return 200, paged(account, found, query.get("after_id"))
        case ["GET", "v1", "messages", "batches", known] if known in account.batches:
            account.look(account.batches[known], "ended")
            return 200, shown_anthropic(account, account.batches[known])
        case ["GET", "v1", "messages", "batches", known, "results"] if account.batches[known].ended:
            return 200, anthropic_results(account, account.batches[known])
        case ["POST", "v1", "messages", "batches", known, "cancel"] if known in account.batches:
            account.end(account.batches[known], "cancelled")
            return 200, shown_anthropic(account, account.batches[known])
    return refused(404, f"Not found: {path}", "not_found_error")


def shown_anthropic(account: Account, batch: BatchOf) -> dict[str, Any]:
    outcomes = Counter(anthropic_fate(account.outcome(batch, body)) for body in batch.requests.values())
    counts = {fate: outcomes[fate] if batch.ended else 0 for fate in FATES}
    at = datetime.fromtimestamp(batch.created, UTC).isoformat().replace("+00:00", "Z")
    return {
        "id": batch.id, "type": "message_batch", "processing_status": "ended" if batch.ended else "in_progress",
        "request_counts": {"processing": 0 if batch.ended else len(batch.requests), **counts},
        "created_at": at, "expires_at": at, "ended_at": at if batch.ended else None, "archived_at": None,
        "cancel_initiated_at": None, "results_url": "https://elsewhere.example/results" if batch.ended else None,
    }  # fmt: skip


def anthropic_fate(outcome: str) -> str:
    return outcome if outcome in FATES else "errored"


def anthropic_results(account: Account, batch: BatchOf) -> bytes:
    lines = []
    for request_id, params in batch.requests.items():
        outcome = account.outcome(batch, params)
        result: dict[str, Any] = {"type": anthropic_fate(outcome)}
        if outcome == "succeeded":
            content = [{"type": "text", "text": account.text(params)}]
            report = {"input_tokens": 9, "output_tokens": 2}
            result["message"] = {"id": "m", "type": "message", "role": "assistant", "model": params["model"],
                                 "content": content, "stop_reason": "end_turn", "usage": report}  # fmt: skip
        elif outcome not in FATES:
            error = {"type": "invalid_request_error", "message": outcome}
            result["error"] = {"type": "error", "error": error, "request_id": "r"}
        if outcome != "lost":
            lines.append({"custom_id": request_id, "result": result})
    return "".join(json.dumps(line) + "\n" for line in reversed(lines)).encode()
