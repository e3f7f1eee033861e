"""How rows are dealt out to batches."""

from __future__ import annotations

from itertools import zip_longest

from hypothesis import given
from hypothesis import strategies as st

from jupyter_ctx.experiments.batch.batch_job import AROUND, deal


@given(st.lists(st.integers(1, 400), max_size=60), st.integers(1, 9), st.integers(400 + AROUND, 2_000))
def test_rows_are_dealt_out_in_order_to_as_large_batches_as_a_provider_takes(
    sizes: list[int], most: int, most_bytes: int
) -> None:
    parts = deal(list(enumerate(sizes)), most, most_bytes)
    assert [row for part in parts for row in part] == list(range(len(sizes)))
    for part, following in zip_longest(parts, parts[1:]):
        size = sum(sizes[row] for row in part) + AROUND
        assert 0 < len(part) <= most
        assert size <= most_bytes
        assert following is None or len(part) == most or size + sizes[following[0]] > most_bytes
