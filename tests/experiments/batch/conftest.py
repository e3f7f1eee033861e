"""What tests of batches share: a server that takes them, and short waits."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from batch_servers import Account, Accounts, batch_server

from jupyter_ctx.experiments.batch import batch_job, batch_run


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, value in (
        (batch_job, "FIRST_WAIT", 0.02), (batch_run, "FIRST_WAIT", 0.02), (batch_job, "LONGEST_WAIT", 0.05),
        (batch_job, "SETTLE", 0.3), (batch_run, "AFTER_CANCEL", 5.0),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, value)


@pytest.fixture
def server() -> Iterator[Accounts]:
    with batch_server() as accounts:
        yield accounts


@pytest.fixture
def account(server: Accounts) -> Account:
    return server["a"]
