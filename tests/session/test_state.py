"""What a session knows beside its conversation is stored whole and restored whole."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_ctx.config.settings import Settings
from jupyter_ctx.context.usage import Spending
from jupyter_ctx.conversation.conversation import Conversation
from jupyter_ctx.session.session import Session
from jupyter_ctx.storage.serialization import OpenedConversation, state_text, stored_state

SETTINGS = Settings(model="openai/gpt-4o")
KNOWN = st.fixed_dictionaries(
    {
        "settings": st.builds(
            Settings, model=st.just(SETTINGS.model), window=st.integers(2_000, 10**6), compact_at=st.floats(0.1, 1)
        ),
        "warned": st.frozensets(st.text(max_size=20).filter(str.isalnum)),
        "spent": st.builds(Spending, st.none() | st.floats(0, 1e6), st.integers(0, 9)),
        "counted": st.sampled_from(["", "view"]),
        "runs": st.dictionaries(st.text(max_size=9).filter(str.isalnum), st.just({"temperature": 0.5}), max_size=2),
    }
)


def restarted(session: Session) -> Session:
    """The same session in another kernel."""
    again = Session(SETTINGS)
    again.restore(OpenedConversation(Conversation(), state=stored_state(state_text(session.stored()))), {})
    return again


@given(KNOWN)
@settings(max_examples=25)
def test_a_restart_keeps_what_is_known(known: dict[str, Any]) -> None:
    session = Session(SETTINGS)
    session.change(**known)
    again = restarted(session)
    assert {name: getattr(again, name) for name in known} == known
