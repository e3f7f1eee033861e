"""Conversations in a store, talked in without a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jupyter_ctx import Chat
from jupyter_ctx.storage.conversation_writer import close_stores

MODEL = "openai/gpt-4o"


def open_chat(address: str | Path, name: str = "c", **more: Any) -> Chat:
    return Chat(MODEL, store=address, name=name, **more)


def reopen(address: str | Path, name: str = "c") -> Chat:
    """The conversation as a new process would find it."""
    close_stores()
    return open_chat(address, name)


def say(chat: Chat, *prompts: str) -> None:
    for prompt in prompts:
        chat.add_messages([{"role": "user", "content": prompt}, {"role": "assistant", "content": f"re: {prompt}"}])


def prompts(chat: Chat) -> list[str]:
    return [turn.prompt for turn in chat.turns]


def aside(file: Path) -> list[Path]:
    return [path for path in file.parent.glob(f"{file.name}.damaged-*") if not path.name.endswith(("-wal", "-shm"))]
