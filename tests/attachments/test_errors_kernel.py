"""The last error in a real kernel: its cells have file names of their own, and are interrupted."""

from __future__ import annotations

from kernels import Kernel, shown

SENT = (
    "from jupyter_ctx.session.attaching import attachment_of_error as sent; "
    "print(sent(get_chat().session, get_ipython()._jupyter_ctx.magic.prompts.last_error(), model='gpt-5.2').text)"
)


def test_the_failing_cell_and_another_one_are_told_apart(kernel: Kernel) -> None:
    kernel.run("def half(n):\n    return 1 / n")
    kernel.run("x = 0\nhalf(x)")
    sent = shown(kernel.run(SENT))
    assert '  File "Cell", line 2\n    half(x)\n  File "Another cell", line 2, in half\n    return 1 / n\n' in sent
    assert "The cell that failed:\n```\nx = 0\nhalf(x)\n```" in sent
    assert "ipykernel" not in sent
