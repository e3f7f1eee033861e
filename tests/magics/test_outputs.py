"""{{ Out[3] }} and {{ _ }} are IPython's values; what cells display goes along as they show it now."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Iterator

import pytest
from dialects import DIALECTS
from kernels import Kernel, error, shown
from server import serve

PNG = b"\x89PNG\r\n\x1a\n"
Sent = Callable[..., tuple[str, list[bytes]]]


def ok(kernel: Kernel, source: str) -> int:
    """Run a cell that must succeed, and return its number."""
    outputs = kernel.run(source)
    assert error(outputs) is None, shown(outputs)
    return int(kernel.reply["execution_count"])


@pytest.fixture
def sent(kernel: Kernel) -> Iterator[Sent]:
    """Sends a prompt in a cell, and returns the text and the images of the request."""
    ok(kernel, "%matplotlib inline\n%config InlineBackend.figure_formats = ['png']\nimport matplotlib.pyplot as plt")
    with serve(DIALECTS["completions"].answer("Fine.")) as (url, seen):

        def ask(prompt: str, attached: str = "") -> tuple[str, list[bytes]]:
            kernel.run(f"%%chat -m gpt-5.2 {attached} --base-url {url} --no-history\n{prompt}")
            content = seen[-1]["messages"][-1]["content"]
            parts = [{"text": content}] if isinstance(content, str) else content
            images = [b64decode(part["image_url"]["url"].partition(",")[2]) for part in parts if "image_url" in part]
            return "\n".join(part["text"] for part in parts if "text" in part), images

        yield ask


def test_a_value_is_filled_in_by_its_number(kernel: Kernel, sent: Sent) -> None:
    number = ok(kernel, "{'a': [1, 2]}")
    prompt = f"Sum {{{{ Out[{number}] }}}} and {{{{ _{number}['a'][1] }}}}, {{{{ sum(Out[{number}]['a']) }}}}."
    assert sent(prompt) == ("Sum {'a': [1, 2]} and 2, 3.", [])
    ok(kernel, "40 + 2")
    assert sent("Is {{ _ }} more than {{ ___ }}?") == ("Is 42 more than {'a': [1, 2]}?", [])  # __: a Reply


def test_a_display_that_is_brought_up_to_date_is_what_it_shows_now(kernel: Kernel, sent: Sent) -> None:
    image = "from PIL import Image\nfrom IPython.display import display\n"
    number = ok(kernel, f"{image}shown = display(Image.new('RGB', (60, 50), 'red'), display_id=True)")
    (red,) = sent("See:", f"-a cells:{number}")[1]
    ok(kernel, "shown.update(Image.new('RGB', (60, 50), 'blue'))")
    (blue,) = sent("See:", f"-a cells:{number}")[1]
    assert blue != red


def test_a_plot_has_no_text_to_fill_in_and_goes_attached(kernel: Kernel, sent: Sent) -> None:
    ok(kernel, "fig = plt.figure()\nplt.plot([1, 2])\nplt.show()")
    assert "-a on the first line sends what it shows" in str(error(kernel.run("%%chat -m gpt-5.2\n{{ fig }}")))
    assert sent("See:", "-a fig")[1][0].startswith(PNG)


def test_nothing_is_kept_after_the_extension_is_unloaded(kernel: Kernel) -> None:
    hooks = "get_ipython().display_pub._hooks"
    assert kernel.value(f"len({hooks})") == "1"
    ok(kernel, "%reload_ext jupyter_ctx")
    assert kernel.value(f"len({hooks})") == "1"
    ok(kernel, "%unload_ext jupyter_ctx")
    assert kernel.value(f"len({hooks})") == "0"
