"""{{ Out[3] }} and {{ _ }} are IPython's values; what cells display goes along as they show it now."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from typing import Any

import pytest
from dialects import DIALECTS
from kernels import Kernel, error, shown
from server import serve

PNG = b"\x89PNG\r\n\x1a\n"


class Notebook(Kernel):
    """A kernel whose cells ask a server on loopback; ``seen`` are the requests."""

    def __init__(self, connected: Kernel, url: str, seen: list[dict[str, Any]]) -> None:
        vars(self).update(vars(connected))
        self.url, self.seen = url, seen

    def ok(self, source: str) -> int:
        """Run a cell that must succeed, and return its number."""
        outputs = self.run(source)
        assert error(outputs) is None, shown(outputs)
        return int(self.reply["execution_count"])

    def sent(self, prompt: str, options: str = "-m gpt-5.2") -> tuple[str, list[bytes]]:
        """Send a prompt, and return the text and the images of the request."""
        self.said = shown(self.run(f"%%chat {options} --base-url {self.url} --no-history\n{prompt}"))
        content = self.seen[-1]["messages"][-1]["content"]
        if isinstance(content, str):
            return content, []
        texts = [part["text"] for part in content if part["type"] == "text"]
        images = [b64decode(part["image_url"]["url"].partition(",")[2]) for part in content if "image_url" in part]
        return "\n".join(texts), images

    def fails(self, source: str) -> str:
        """Run a cell that must fail, and return what it shows."""
        outputs = self.run(source)
        assert error(outputs) is not None, shown(outputs)
        return shown(outputs)


@pytest.fixture(scope="module")
def asking(connected: Kernel) -> Iterator[Notebook]:
    with serve(DIALECTS["completions"].answer("Fine.")) as served:
        yield Notebook(connected, *served)


@pytest.fixture
def notebook(asking: Notebook) -> Notebook:
    asking.begin_anew()
    asking.seen.clear()
    asking.ok("%matplotlib inline\n%config InlineBackend.figure_formats = ['png']\nimport matplotlib.pyplot as plt")
    return asking


def test_a_value_is_filled_in_by_its_number(notebook: Notebook) -> None:
    number = notebook.ok("{'a': [1, 2]}")
    prompt = f"Sum {{{{ Out[{number}] }}}} and {{{{ _{number}['a'][1] }}}}, {{{{ sum(Out[{number}]['a']) }}}}."
    assert notebook.sent(prompt) == ("Sum {'a': [1, 2]} and 2, 3.", [])
    notebook.ok("40 + 2")
    assert notebook.sent("Is {{ _ }} more than {{ ___ }}?") == ("Is 42 more than {'a': [1, 2]}?", [])  # __: a Reply


def test_a_display_that_is_brought_up_to_date_is_what_it_shows_now(notebook: Notebook) -> None:
    image = "from PIL import Image\nfrom IPython.display import display\n"
    number = notebook.ok(f"{image}shown = display(Image.new('RGB', (60, 50), 'red'), display_id=True)")
    (red,) = notebook.sent("See:", f"-m gpt-5.2 -a cells:{number}")[1]
    notebook.ok("shown.update(Image.new('RGB', (60, 50), 'blue'))")
    (blue,) = notebook.sent("See:", f"-m gpt-5.2 -a cells:{number}")[1]
    assert blue != red


def test_a_plot_has_no_text_to_fill_in_and_goes_attached(notebook: Notebook) -> None:
    notebook.ok("fig = plt.figure()\nplt.plot([1, 2])\nplt.show()")
    assert "-a on the first line sends what it shows" in notebook.fails("%%chat -m gpt-5.2\n{{ fig }}")
    assert notebook.sent("See:", "-m gpt-5.2 -a fig")[1][0].startswith(PNG)


def test_nothing_is_kept_after_the_extension_is_unloaded(notebook: Notebook) -> None:
    hooks = "get_ipython().display_pub._hooks"
    assert notebook.value(f"len({hooks})") == "1"
    notebook.ok("%reload_ext jupyter_ctx")
    assert notebook.value(f"len({hooks})") == "1"
    notebook.ok("%unload_ext jupyter_ctx")
    assert notebook.value(f"len({hooks})") == "0"


def test_names_of_the_user_s_own_stay_theirs(notebook: Notebook) -> None:
    notebook.ok("Out = {3: 'mine'}; In = ['a', 'b', 'c']; _3 = 'too'")
    assert notebook.sent("{{ Out[3] }} {{ In[2] }} {{ _3 }}") == ("mine c too", [])
    notebook.ok("for _ in range(3): pass")
    assert notebook.sent("{{ _ }}") == ("2", [])
