"""The exceptions of jupyter_ctx, as one tree.

ChatError
├── InvalidRequestError       an argument or setting is invalid (also a ValueError)
├── MissingDependencyError    an extra is not installed (also an ImportError)
├── ContextOverflowError      the request does not fit, even after trimming
├── ModelNotFoundError        no provider serves this model
├── AuthenticationError       the API key is missing or was refused
├── RateLimitError            the provider's rate limit is reached
├── BudgetExceededError       no money is left: of max_cost, or of the key's budget
├── ProviderConnectionError   no server answered, or the connection broke
├── ProviderError             the provider refused or failed in another way
├── InvalidAnswerError        an answer does not match its schema (also a ValueError)
└── StoreError                the conversation could not be saved or read
KeyboardInterrupt
└── ChatInterrupted           the user interrupted a reply

``except ChatError`` catches all but an interrupt; each error carries its data as attributes.
In a cell an error is shown as its message alone (IPython calls
``_render_traceback_``), and the cell still fails.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .wording import is_whole, visible

if TYPE_CHECKING:
    from .context.overflow import Overflow


class ChatError(Exception):
    """The base class of all errors of jupyter_ctx."""

    def _render_traceback_(self) -> list[str]:
        return _shown(31, type(self).__name__, self)


class InvalidRequestError(ChatError, ValueError):
    """An argument or setting is invalid; nothing was sent or recorded. The message says what it must be."""


class MissingDependencyError(ChatError, ImportError):
    """An optional package is not installed; the message names the command that installs it."""


class ContextOverflowError(ChatError):
    """The request does not fit in the model's context window. Shorten the prompt, or see ``%chat help recovery``.

    ``used``: tokens of the request; ``None`` where unknown.
    ``limit``: tokens that the request may have; ``None`` where unknown.
    ``largest``: the largest parts of the request, as pairs of name and tokens.
    ``prompt``: the user's prompt, so that it is not lost.
    ``overflow``: the figures read from the provider's refusal; ``None`` where there was none.
    ``by_bytes``: the request was refused for its bytes (files included), characters or memory, not for its tokens.
    """

    def __init__(
        self,
        message: str,
        *,
        used: int | None = None,
        limit: int | None = None,
        largest: Sequence[tuple[str, int]] = (),
        prompt: str = "",
        overflow: Overflow | None = None,
        by_bytes: bool = False,
    ) -> None:
        super().__init__(message)
        self.used = used
        self.limit = limit
        self.largest = tuple(largest)
        self.prompt = prompt
        self.overflow = overflow
        self.by_bytes = by_bytes


class ProviderError(ChatError):
    """The provider refused or failed, as the message says; ``status`` is the HTTP status, ``None`` if it has none.

    ``reply``: the Reply, with its usage and cost, where one came that was all thinking.
    """

    def __init__(self, message: str, *, status: int | None = None, reply: Any = None) -> None:
        super().__init__(message)
        self.status = status
        self.reply = reply


class ModelNotFoundError(ChatError):
    """No provider serves ``model``. ``%chat models PROVIDER`` lists those that a provider serves."""

    def __init__(self, message: str, *, model: str = "") -> None:
        super().__init__(message)
        self.model = model


class AuthenticationError(ChatError):
    """The provider requires an API key, or refused the one it was sent. ``%chat key PROVIDER`` asks for one."""


class RateLimitError(ChatError):
    """The provider's rate limit is reached. Wait, then run the cell again.

    ``retry_after``: seconds after which to try again; ``None`` where the provider did not say.
    ``helps_to_wait``: ``False`` where one request alone is above the limit.
    """

    def __init__(self, message: str, *, retry_after: float | None = None, helps_to_wait: bool = True) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.helps_to_wait = helps_to_wait


class BudgetExceededError(ChatError):
    """No money is left, so that no such request is answered: of a cap such as max_cost, or of the key's budget.
    ``%chat help budget`` explains caps.

    ``status``: the HTTP status of a provider's refusal; ``None``: nothing was sent, because of a cap of the user's own.
    """

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class ProviderConnectionError(ChatError):
    """No server answered at the address, or the connection broke. Start the server, or see ``%chat help servers``."""


class InvalidAnswerError(ChatError, ValueError):
    """An answer does not match the schema that was asked for. Run the cell again, or ask for fewer fields.

    ``text``: the whole answer.
    ``problems``: what is wrong with it, a line each, in words for the model too.
    ``reply``: the Reply, with its usage and cost; ``None`` where a text was checked by itself.
    """

    def __init__(self, message: str, *, text: str = "", problems: Sequence[str] = (), reply: Any = None) -> None:
        super().__init__(message)
        self.text = text
        self.problems = tuple(problems)
        self.reply = reply


class StoreError(ChatError):
    """The conversation could not be saved or read. ``%chat help files`` says where conversations are stored."""


REFUSED = (  # requests that were not answered, and so cost nothing
    AuthenticationError, BudgetExceededError, ContextOverflowError, InvalidRequestError, MissingDependencyError,
    ModelNotFoundError, RateLimitError,
)  # fmt: skip


class ChatInterrupted(KeyboardInterrupt):
    """The user interrupted a reply. This is a KeyboardInterrupt, so that Run All stops at the cell."""

    def _render_traceback_(self) -> list[str]:
        return _shown(33, "Interrupted", self)


def check_whole_number(name: str, value: object, least: int = 0, most: int | None = None) -> None:
    """Raise InvalidRequestError where a value is not a whole number within bounds."""
    if not is_whole(value, least, most):
        bounds = f"of {least} or more" if most is None else f"from {least} to {most}"
        raise InvalidRequestError(f"{name} is {value!r}: it must be a whole number {bounds}.")


def _shown(colour: int, name: str, error: BaseException) -> list[str]:
    """Return an error as IPython prints it, its name in a colour of terminals, in lines that break between words."""
    from .wording.layout import MOST_OF_ERROR, line_width, wrapped

    text = wrapped(f"{name}: {visible(str(error))}", min(MOST_OF_ERROR, line_width()))
    return [f"\x1b[{colour}m{name}\x1b[0m{text.removeprefix(name)}"]


def in_words(error: BaseException, masked: Callable[[str], str] = str) -> str:
    """Return an error as one text for where no traceback can be shown; the type is named unless it is a ChatError.

    ``masked`` blanks secrets in its message.
    """
    message = masked(str(error))
    return message if isinstance(error, ChatError) else f"{type(error).__name__}: {message}"
