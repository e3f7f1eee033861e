"""Providers from elsewhere: handed to a Chat, or registered by a package as an entry point."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..context.windows import Fact
from ..conversation.messages import ToolCall
from ..conversation.text_safety import clean
from ..errors import ChatError, InvalidRequestError, ProviderError, in_words
from .base import Piece, Provider, Reply, Request, SupportsStream, Thought
from .request_body import in_prompt, prepared

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

GROUP = "jupyter_ctx.providers"
ATTRIBUTES = ("sends_reserve", "takes", "takes_schema", "takes_tools", "reports_logprobs", "truncates", "catalogue")


def _own(name: str) -> Any:
    """Return a method that calls the given provider's own of this name, else does what all providers do."""

    def method(self: PluginProvider, *args: Any, **named: Any) -> Any:
        own = getattr(self._given, name, None)
        with self._naming():
            return getattr(Provider, name)(self, *args, **named) if own is None else own(*args, **named)

    return method


class PluginProvider(Provider):
    """A provider from elsewhere: what it lacks has a default, and what it raises is a ChatError that names it."""

    served_window = _own("served_window")
    forget_window = _own("forget_window")
    cards = _own("cards")
    close = _own("close")

    def __init__(self, given: Any, model: str, where: str = "") -> None:
        if not callable(getattr(given, "stream", None)):
            raise InvalidRequestError(f"{where or repr(given)} is no provider: it has no method stream(request).")
        kind = type(given)
        self._given, self._where = given, where or f"The provider {kind.__qualname__}"
        self.model = model
        self.endpoint = getattr(given, "endpoint", "") or f"{kind.__module__}.{kind.__qualname__} {model}"
        self.tokenizer = getattr(given, "tokenizer", "") or self.endpoint
        for name in ATTRIBUTES:
            setattr(self, name, getattr(given, name, getattr(Provider, name)))

    def stream(self, request: Request) -> Generator[Piece | Reply, None, None]:
        """Yield what the provider does, without characters that no text may have; a Reply alone is a piece, too."""
        item: Piece | Reply | None = None
        with self._naming(), streaming(self._given, self._sent(request)) as stream:
            for each in stream:
                cleaned = _cleaned(each)
                if item is None and isinstance(cleaned, Reply) and cleaned.text:
                    yield cleaned.text
                item = cleaned
                yield item
            if not isinstance(item, Reply):
                raise ProviderError(f"{self._where} sent no reply: stream() must end with one Reply.")

    def says(self, fact: Fact, *, ask: bool) -> bool | None:
        """Return that the model reads images: of one that reads none, ``takes`` says so."""
        del ask
        return True if fact == "images" else None

    def count_tokens(self, request: Request) -> int | None:
        """Return the provider's count, or ``None``."""
        with suppress(ChatError):
            return _own("count_tokens")(self, self._sent(request))  # type: ignore[no-any-return]
        return None

    def _naming(self) -> AbstractContextManager[None]:
        return _raising(f"{self._where} failed")

    def _sent(self, request: Request) -> Request:
        return prepared(request) if self.takes_schema else in_prompt(prepared(request))


@contextmanager
def streaming(provider: SupportsStream, request: Request) -> Iterator[Iterable[Piece | Reply]]:
    """Open a provider's stream and close it at the end, whatever iterable it is."""
    stream = provider.stream(request)
    try:
        yield stream
    finally:
        if hasattr(stream, "close"):
            stream.close()


@contextmanager
def _raising(failed: str) -> Iterator[None]:
    """Raise ProviderError, which begins with ``failed``, for an error of any other kind than ChatError."""
    try:
        yield
    except ChatError:
        raise
    except Exception as error:
        raise ProviderError(f"{failed}: {in_words(error)}") from error


def plugin(given: Any, model: str | None) -> PluginProvider:
    """Return a provider that was handed to a Chat, under the full name of its model."""
    name = model or str(getattr(given, "model", "") or "")
    if "/" not in name.strip("/"):
        name = f"{type(given).__name__.lower()}/{name.strip('/') or 'model'}"
    return PluginProvider(given, name)


def plugin_names() -> tuple[str, ...]:
    """Return the names that installed packages have registered."""
    return tuple(sorted({entry.name for entry in _entry_points()}))


def load_plugin(name: str, model: str, **options: Any) -> PluginProvider:
    """Load and make the provider that a package has registered under a name.

    Raises ProviderError, which names the entry point and its package.
    """
    entry = next(iter(_entry_points().select(name=name)))
    package = f" of {entry.dist.name} {entry.dist.version}" if entry.dist is not None else ""
    where = f"The provider {name!r} ({entry.value}{package})"
    with _raising(f"{where} cannot be loaded"):
        made = entry.load()(model, **options)
    loaded = PluginProvider(made, f"{name}/{model}", where)
    loaded.catalogue = loaded.catalogue and name  # under which Tab looks for its models
    return loaded


def _entry_points() -> EntryPoints:
    """Return what installed packages have registered under the group."""
    import importlib.metadata  # 10 ms that most kernels never need

    return importlib.metadata.entry_points(group=GROUP)


def _cleaned(item: Any) -> Piece | Reply:
    """Return a piece or a reply without what no text may have. Raises TypeError for anything else."""
    if isinstance(item, str):
        return clean(item)
    if isinstance(item, Thought):
        return Thought(clean(item.text))
    if isinstance(item, Reply):
        calls = tuple(ToolCall(clean(call.id), clean(call.name), clean(call.arguments)) for call in item.calls)
        return replace(item, text=clean(item.text), thinking=clean(item.thinking), calls=calls)
    raise TypeError(f"stream() yielded {type(item).__name__}, not str, Thought or Reply")
