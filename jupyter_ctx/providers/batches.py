"""What batches of OpenAI and Anthropic share: many requests handed in at once, answered within a day at half price.

A batch is known by its ``mark``, a text of ours that stands in the id of each of its requests: ``MARK-NUMBER``.
"""

from __future__ import annotations

import json
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from ..errors import ChatError, InvalidRequestError, StoreError
from .adapter import Adapter
from .base import Reply, Request
from .json_body import encoded, unwritable

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
    def listed(self, since: float) -> Iterator[Listed]:
        """Yield the batches that were begun after a time (s since 1970), the newest first."""

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
            self.adapter.call(lambda client: _fetch(client, path, file))
            file.seek(0)
            for line in file:
                try:
                    found = json.loads(line)
                except (ValueError, RecursionError):
                    continue
                if isinstance(found, dict):
                    yield found

    def _replied(self, request_id: str, status: int, body: Mapping[str, Any]) -> BatchResult:
        try:
            return BatchResult(request_id, self.adapter.whole_reply(status, body))
        except ChatError as error:
            return BatchResult(request_id, error=error)


def _fetch(client: Any, path: str, file: Any) -> None:
    import httpx2

    response = client.get(path, cast_to=httpx2.Response, stream=True, stream_cls=object)
    for chunk in response.iter_bytes():
        try:
            file.write(chunk)
        except OSError as error:
            raise StoreError(
                f"The results of a batch cannot be kept in {tempfile.gettempdir()} ({error.strerror}): make room there."
            ) from None


def _object(found: Any) -> dict[str, Any]:
    return found if isinstance(found, dict) else {}
