"""Anthropic's Message Batches: all requests in one body, then a file of results.

A batch has no metadata, and its list does not show the ids of its requests: whose a batch is shows in its results.
The formats: https://platform.claude.com/docs/en/build-with-claude/batch-processing
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from math import inf
from typing import Any

from ..errors import ProviderError
from .anthropic import Anthropic
from .base import Request
from .batches import BatchResult, BatchService, BatchStatus, Listed
from .content_parts import count
from .stream_events import dict_at, dicts_at, text_at

PATH = "/v1/messages/batches"
LIMIT = 1_000  # batches in one answer, at most
FATES = ("succeeded", "errored", "canceled", "expired")
HTTP_STATUS = {
    "invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403,
    "not_found_error": 404, "request_too_large": 413, "rate_limit_error": 429, "api_error": 500,
    "timeout_error": 504, "overloaded_error": 529,
}  # fmt: skip


class AnthropicBatches(BatchService):
    """Batches for the Messages API."""

    most_requests = 100_000
    most_bytes = 256_000_000
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
        batch = self.adapter.call(lambda client: client.post(PATH, content=uploaded, cast_to=object))
        found = text_at(batch, "id")
        if not found:
            raise ProviderError("The answer to a new batch has no id.")
        return found

    def listed(self, since: float) -> Iterator[Listed]:
        """Yield the batches of this key's workspace."""
        after = ""
        while True:
            page = self._get(f"{PATH}?limit={LIMIT}{f'&after_id={after}' if after else ''}")
            batches = dicts_at(page, "data")
            for batch in batches:
                created = _seconds(text_at(batch, "created_at"))
                if created < since:
                    return
                yield Listed(text_at(batch, "id"), None, sum(_counts(batch)), created)
            if not batches or page.get("has_more") is not True:
                return
            after = text_at(batches[-1], "id")

    def status(self, reference: str) -> BatchStatus:
        """Return how far a batch is; the provider counts what is done only once all is."""
        batch = self._get(f"{PATH}/{reference}")
        processing, *done = _counts(batch)
        ended = text_at(batch, "processing_status") == "ended"
        return BatchStatus(reference, ended, sum(done), processing + sum(done), files=(f"{PATH}/{reference}/results",))

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
        self._post(f"{PATH}/{reference}/cancel")


def _counts(batch: dict[str, Any]) -> list[int]:
    counts = dict_at(batch, "request_counts")
    return [count(counts, name) for name in ("processing", *FATES)]


def _seconds(date: str) -> float:
    """Return seconds since 1970; the end of time for what is no date."""
    try:
        return datetime.fromisoformat(date).timestamp()
    except ValueError:
        return inf
