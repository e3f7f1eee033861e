"""OpenAI's Batch API: a file of requests, then a batch of it, then files of answers and of errors.

The formats: https://platform.openai.com/docs/guides/batch
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from math import inf
from typing import Any

from ..errors import ProviderError
from .base import Request
from .batches import BatchResult, BatchService, BatchStatus, Listed
from .content_parts import count
from .openai_chat import ChatCompletions
from .openai_responses import Responses
from .stream_events import dict_at, dicts_at, text_at

PAGE = 100  # batches in one answer, at most
ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
MARKED = "jupyter_ctx"  # the name of our mark in the metadata of a batch
CANCELLED = "batch_cancelled"
EXPIRED = "batch_expired"


class OpenAIBatches(BatchService):
    """Batches for the Responses API, or for Chat Completions at an address of the user's own."""

    most_requests = 50_000
    most_bytes = 200_000_000
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

    def listed(self, since: float) -> Iterator[Listed]:
        """Yield the batches of this key's project."""
        after = ""
        while True:
            page = self._get(f"/batches?limit={PAGE}{f'&after={after}' if after else ''}")
            batches = dicts_at(page, "data")
            for batch in batches:
                created = float(count(batch, "created_at") or inf)
                if created < since:
                    return
                total = count(dict_at(batch, "request_counts"), "total")
                yield Listed(text_at(batch, "id"), text_at(dict_at(batch, "metadata"), MARKED), total, created)
            if not batches or page.get("has_more") is not True:
                return
            after = text_at(batches[-1], "id")

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
