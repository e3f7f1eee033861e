"""What imports without the garbage collector leave behind."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from jupyter_ctx.runtime.importing import quick_imports


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    yield
    gc.unfreeze()
    gc.enable()


def test_the_collector_rests_and_goes_on_also_after_an_error() -> None:
    with pytest.raises(ImportError), quick_imports():
        assert not gc.isenabled()
        raise ImportError
    assert gc.isenabled()


def test_a_collector_that_is_off_stays_off_and_what_was_frozen_stays_frozen() -> None:
    gc.disable()
    gc.freeze()
    frozen = gc.get_freeze_count()
    with quick_imports():
        pass
    assert not gc.isenabled()
    assert gc.get_freeze_count() >= 0.9 * frozen
