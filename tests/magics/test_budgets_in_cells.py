"""What is left to spend, in cells."""

from __future__ import annotations

from cells import Cells
from gateways import KEY, Gateway

from jupyter_ctx import BudgetExceededError, get_chat

INFO = {"info": {"spend": 3.8, "max_budget": 5.0, "budget_reset_at": None}}
LITELLM = {"x-litellm-version": "1.109.0"}


def test_status_asks_the_gateway_and_says_what_is_left_of_the_cap_and_with_the_key(cells: Cells) -> None:
    with Gateway({"/key/info": INFO}, headers=LITELLM).running() as gateway:
        get_chat().models.set_key(f"{gateway.url}/v1", KEY)
        cells.run(f"%chat use m --base-url {gateway.url}/v1 --window 4000")
        cells.run("%%chat\nWhy?")
        assert "/key/info" not in gateway.gets
        cells.run("%chat config prices 3.0,15")
        cells.run("%chat config max_cost 2")
        status = cells.run("%chat status")
        assert gateway.gets.count("/key/info") == 1
        assert gateway.keys == {f"Bearer {KEY}"}
    assert "\nBudget: $2 of $2 left." in status
    assert "\nKey: $1.20 of $5 left." in status


def test_a_cap_of_the_configuration_holds_in_cells_and_for_what_code_asks_beside_them(cells: Cells) -> None:
    cells.shell.config.Chat.max_cost = 0.001
    with Gateway({}).running() as gateway:
        code = f"jupyter_ctx.ask('Why?', 'm', base_url='{gateway.url}/v1', prices=(3, 15))"
        assert isinstance(cells.fail(f"import jupyter_ctx\n{code}"), BudgetExceededError)
        cells.run(f"%chat use m --base-url {gateway.url}/v1 --window 4000 --prices 3.0,15")
        for cell in ("%%chat\nWhy?", "%chat new", "%%chat\nWhy?", "%%chat -i other\nWhy?"):
            error, _ = cells.outcome(cell)
            assert cell == "%chat new" or "max_cost is $0.001" in str(error)
        assert gateway.posts == 0
