"""Batches of OpenAI and Anthropic: many requests handed in at once, answered within a day at half price.

A batch is known by its ``mark``, a text of ours that stands in the id of each of its requests: ``MARK-NUMBER``.
"""

from __future__ import annotations

import json
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from math import inf
from typing import Any, ClassVar, NamedTuple

from ..errors import ChatError, InvalidRequestError, ProviderError, StoreError
from .adapter import Adapter
from .anthropic import Anthropic
from .base import Reply, Request
from .catalog import SERVICES
from .openai_chat import ChatCompletions
from .openai_responses import Responses
from .reply_bounds import FILE, PART, allow
from .request_body import encoded, unwritable
from .stream_events import count, dict_at, dicts_at, text_at

LONGEST_NUMBER = 999_999  # of a request in a batch
NOT_STREAMED = ("stream", "stream_options")


class Listed(NamedTuple):
    """A batch in a provider's list. ``mark``: whose it is, ``None`` where the list does not say; ``created``: s."""

    reference: str
    mark: str | None
    total: int
    created: float


class BatchResult(NamedTuple):
    """What became of one request: a reply, an error, or neither: it was cancelled, and costs nothing."""

    request_id: str
    reply: Reply | None = None
    error: ChatError | None = None


@dataclass(frozen=True, slots=True)
class BatchStatus:
    """How far a batch is.

    ``reference``: the provider's id of it.
    ``ended``: whether nothing more will come.
    ``done``: requests that were answered or refused so far, where that is known.
    ``total``: requests in it; 0 where that is not known yet.
    ``problem``: why all of it was refused; empty where it was not.
    ``problems``: what is wrong with single requests, by their position from 0, where all of it was refused.
    ``files``: where the results are.
    """

    reference: str
    ended: bool
    done: int = 0
    total: int = 0
    problem: str = ""
    problems: Mapping[int, str] = field(default_factory=dict)
    files: tuple[str, ...] = ()


class BatchService(ABC):
    """The batches of one provider. Every method that asks the provider raises a ChatError."""

    most_requests: ClassVar[int]
    most_bytes: ClassVar[int]
    list_path: ClassVar[str]
    list_from: ClassVar[str]  # the parameter that names the last batch of the page before

    def __init__(self, adapter: Adapter) -> None:
        self.adapter = adapter

    @abstractmethod
    def line(self, request_id: str, request: Request) -> bytes:
        """Return one request as it stands in a batch. Raises InvalidRequestError where JSON cannot hold it."""

    @abstractmethod
    def upload(self, mark: str, lines: Iterable[bytes]) -> Any:
        """Hand in the requests, as far as that costs nothing yet; return what :meth:`submit` needs."""

    @abstractmethod
    def submit(self, mark: str, uploaded: Any) -> str:
        """Begin the batch, which costs money; return the provider's id."""

    @abstractmethod
    def _listed(self, batch: dict[str, Any]) -> Listed:
        """Return one row of the provider's list."""

    @abstractmethod
    def status(self, reference: str) -> BatchStatus:
        """Return how far a batch is."""

    @abstractmethod
    def results(self, status: BatchStatus) -> Iterator[BatchResult]:
        """Yield what became of the requests of a batch that has ended, in any order."""

    @abstractmethod
    def cancel(self, reference: str) -> None:
        """Ask the provider to end a batch; what was answered stays, and costs money."""

    # what both share

    def listed(self, since: float) -> Iterator[Listed]:
        """Yield the batches that were begun after a time (s since 1970), the newest first."""
        after = ""
        while True:
            page = self._get(f"{self.list_path}{f'&{self.list_from}={after}' if after else ''}")
            batches = [self._listed(batch) for batch in dicts_at(page, "data")]
            for batch in batches:
                if batch.created < since:
                    return
                yield batch
            if not batches or page.get("has_more") is not True:
                return
            after = batches[-1].reference

    def size(self, request: Request) -> int:
        """Return the most bytes that a request takes in a batch."""
        return len(self.line(f"{'0' * 16}-{LONGEST_NUMBER}", request)) + 1

    def mark(self, status: BatchStatus) -> str | None:
        """Return the mark of a batch that has ended, from the id of one of its requests."""
        first = next(self.results(status), None)
        return first.request_id.rpartition("-")[0] if first is not None else None

    def _written(self, body: dict[str, Any], messages: str) -> bytes:
        """Return a body as JSON, for an answer in one piece."""
        body = {name: value for name, value in body.items() if name not in NOT_STREAMED}
        try:
            return encoded(body, messages)
        except (TypeError, ValueError, RecursionError) as error:
            names = ", ".join(unwritable(body)) or "A parameter"
            raise InvalidRequestError(f"{names} cannot be sent as JSON: {error}.") from None

    def _get(self, path: str) -> Any:
        return _object(self.adapter.call(lambda client: client.get(path, cast_to=object)))

    def _post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        return _object(self.adapter.call(lambda client: client.post(path, body=body, cast_to=object)))

    def _lines(self, path: str) -> Iterator[dict[str, Any]]:
        """Yield the objects in a file of results, which is fetched whole first; broken lines are left out."""
        with tempfile.TemporaryFile() as file:
            self.adapter.call(lambda client: self._fetch(client, path, file))
            file.seek(0)
            for line in iter(partial(file.readline, PART), b""):  # a longer one is a broken one
                try:
                    found = json.loads(line)
                except (ValueError, RecursionError):
                    continue
                if isinstance(found, dict):
                    yield found

    def _fetch(self, client: Any, path: str, file: Any) -> None:
        response = client.get(path, cast_to=self.adapter.http.Response, stream=True, stream_cls=object)
        for chunk in allow(response, FILE):
            try:
                file.write(chunk)
            except OSError as error:
                folder, why = tempfile.gettempdir(), error.strerror
                text = f"The results of a batch cannot be kept in {folder} ({why}): make room there."
                raise StoreError(text) from None

    def _replied(self, request_id: str, status: int, body: Mapping[str, Any]) -> BatchResult:
        try:
            return BatchResult(request_id, self.adapter.whole_reply(status, body))
        except ChatError as error:
            return BatchResult(request_id, error=error)


def _object(found: Any) -> dict[str, Any]:
    return found if isinstance(found, dict) else {}


ANTHROPIC_PATH = "/v1/messages/batches"
FATES = ("succeeded", "errored", "canceled", "expired")
HTTP_STATUS = {
    "invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403,
    "not_found_error": 404, "request_too_large": 413, "rate_limit_error": 429, "api_error": 500,
    "timeout_error": 504, "overloaded_error": 529,
}  # fmt: skip


class AnthropicBatches(BatchService):
    """Batches for the Messages API: all requests in one body, then a file of results.

    A batch has no metadata, and its list does not show the ids of its requests: whose a batch is shows in its
    results. The formats: https://platform.claude.com/docs/en/build-with-claude/batch-processing
    """

    most_requests = 100_000
    most_bytes = 256_000_000
    list_path = f"{ANTHROPIC_PATH}?limit=1000"
    list_from = "after_id"
    adapter: Anthropic

    def line(self, request_id: str, request: Request) -> bytes:
        """Return one of the requests."""
        body = self._written(self.adapter.body(request, stream=False), "messages")
        return f'{{"custom_id":"{request_id}","params":'.encode() + body + b"}"

    def upload(self, mark: str, lines: Iterable[bytes]) -> Any:
        """Return the body; nothing is sent yet."""
        del mark
        return b'{"requests":[' + b",".join(lines) + b"]}"

    def submit(self, mark: str, uploaded: Any) -> str:
        """Send all requests, which begins the batch."""
        del mark
        return _id(self.adapter.call(lambda client: client.post(ANTHROPIC_PATH, content=uploaded, cast_to=object)))

    def _listed(self, batch: dict[str, Any]) -> Listed:
        """Return a batch of this key's workspace."""
        return Listed(text_at(batch, "id"), None, sum(_counts(batch)), _seconds(text_at(batch, "created_at")))

    def status(self, reference: str) -> BatchStatus:
        """Return how far a batch is; the provider counts what is done only once all is."""
        batch = self._get(f"{ANTHROPIC_PATH}/{reference}")
        processing, *done = _counts(batch)
        ended = text_at(batch, "processing_status") == "ended"
        return BatchStatus(
            reference, ended, sum(done), processing + sum(done), files=(f"{ANTHROPIC_PATH}/{reference}/results",)
        )

    def results(self, status: BatchStatus) -> Iterator[BatchResult]:
        """Yield the lines of the file of results."""
        for path in status.files:
            for line in self._lines(path):
                yield self._result(text_at(line, "custom_id"), dict_at(line, "result"))

    def _result(self, request_id: str, result: dict[str, Any]) -> BatchResult:
        fate = text_at(result, "type")
        if fate == "succeeded":
            return self._replied(request_id, 200, dict_at(result, "message"))
        if fate == "canceled":
            return BatchResult(request_id)
        where = self.adapter.at.address
        if fate == "expired":
            return BatchResult(request_id, error=ProviderError(f"{where} had no time for it within 24 hours."))
        error = dict_at(result, "error")
        kind = text_at(dict_at(error, "error"), "type") or text_at(error, "type")
        return self._replied(request_id, HTTP_STATUS.get(kind, 400), error)

    def cancel(self, reference: str) -> None:
        """Ask for the end of a batch; requests that are being answered may still be."""
        self._post(f"{ANTHROPIC_PATH}/{reference}/cancel")


def _counts(batch: dict[str, Any]) -> list[int]:
    counts = dict_at(batch, "request_counts")
    return [count(counts, name) for name in ("processing", *FATES)]


def _seconds(date: str) -> float:
    """Return seconds since 1970; the end of time for what is no date."""
    try:
        return datetime.fromisoformat(date).timestamp()
    except ValueError:
        return inf


ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
MARKED = "jupyter_ctx"  # the name of our mark in the metadata of a batch
CANCELLED = "batch_cancelled"
EXPIRED = "batch_expired"


class OpenAIBatches(BatchService):
    """Batches for the Responses API, or for Chat Completions at an address of the user's own.

    A file of requests, then a batch of it, then files of answers and of errors. The formats:
    https://platform.openai.com/docs/guides/batch
    """

    most_requests = 50_000
    most_bytes = 200_000_000
    list_path = "/batches?limit=100"
    list_from = "after"
    adapter: Responses | ChatCompletions

    @property
    def _endpoint(self) -> tuple[str, str]:
        """The path of the operation, and the name of the long list in its body."""
        is_new = isinstance(self.adapter, Responses)
        return ("/v1/responses", "input") if is_new else ("/v1/chat/completions", "messages")

    def line(self, request_id: str, request: Request) -> bytes:
        """Return one line of the file."""
        url, messages = self._endpoint
        body = self._written(self.adapter.body(request, stream=False), messages)
        return f'{{"custom_id":"{request_id}","method":"POST","url":"{url}","body":'.encode() + body + b"}"

    def upload(self, mark: str, lines: Iterable[bytes]) -> Any:
        """Upload the file, and return its id."""
        with tempfile.TemporaryFile() as file:
            for line in lines:
                file.write(line + b"\n")
            file.seek(0)
            given = (f"{MARKED}-{mark}.jsonl", file)
            return self.adapter.call(lambda client: client.files.create(file=given, purpose="batch").id)

    def submit(self, mark: str, uploaded: Any) -> str:
        """Begin the batch."""
        body = {
            "input_file_id": uploaded, "endpoint": self._endpoint[0], "completion_window": "24h",
            "metadata": {MARKED: mark},
        }  # fmt: skip
        return _id(self._post("/batches", body))

    def _listed(self, batch: dict[str, Any]) -> Listed:
        """Return a batch of this key's project."""
        mark, total = text_at(dict_at(batch, "metadata"), MARKED), count(dict_at(batch, "request_counts"), "total")
        return Listed(text_at(batch, "id"), mark, total, float(count(batch, "created_at") or inf))

    def status(self, reference: str) -> BatchStatus:
        """Return how far a batch is."""
        batch = self._get(f"/batches/{reference}")
        counts, state = dict_at(batch, "request_counts"), text_at(batch, "status")
        errors = dicts_at(dict_at(batch, "errors"), "data")
        said = {error.get("line"): text_at(error, "message") or text_at(error, "code") for error in errors}
        first = next(iter(said.values()), "no reason was given")
        return BatchStatus(
            reference,
            ended=state in ENDED,
            done=count(counts, "completed") + count(counts, "failed"),
            total=count(counts, "total"),
            problem=first if state == "failed" else "",
            problems={line - 1: text for line, text in said.items() if isinstance(line, int)},
            files=tuple(filter(None, (text_at(batch, name) for name in ("output_file_id", "error_file_id")))),
        )

    def results(self, status: BatchStatus) -> Iterator[BatchResult]:
        """Yield the lines of both files."""
        for file in status.files:
            for line in self._lines(f"/files/{file}/content"):
                yield self._result(line)

    def _result(self, line: dict[str, Any]) -> BatchResult:
        request_id, response, error = text_at(line, "custom_id"), dict_at(line, "response"), dict_at(line, "error")
        if response:
            return self._replied(request_id, count(response, "status_code") or 200, dict_at(response, "body"))
        code, said = text_at(error, "code"), text_at(error, "message").rstrip(".") or "it said no more"
        if code == CANCELLED:
            return BatchResult(request_id)
        where = self.adapter.at.address
        if code == EXPIRED:
            return BatchResult(request_id, error=ProviderError(f"{where} had no time for it within 24 hours ({said})."))
        return BatchResult(request_id, error=ProviderError(f"{where} could not answer it ({said})."))

    def cancel(self, reference: str) -> None:
        """Ask for the end of a batch; it may take ten minutes."""
        self._post(f"/batches/{reference}/cancel")


def _id(batch: dict[str, Any]) -> str:
    found = text_at(batch, "id")
    if not found:
        raise ProviderError("The answer to a new batch has no id.")
    return found


def batches_of(provider: object) -> BatchService:
    """Return how batches are handed in to a provider. Raises InvalidRequestError where it takes none of ours."""
    if isinstance(provider, Anthropic):
        return AnthropicBatches(provider)
    if isinstance(provider, Responses | ChatCompletions) and (
        provider.at.name == "openai" or provider.at.name not in SERVICES
    ):
        return OpenAIBatches(provider)
    name = str(getattr(provider, "model", "") or type(provider).__name__)
    raise InvalidRequestError(
        f"{name} takes no batches here: batch=True works with models of openai and anthropic, and at an address "
        "(base_url) that has OpenAI's Batch API."
    )
