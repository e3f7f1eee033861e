"""{{ Out[3] }} is what the notebook shows there: text as it is printed, and images that go along as images."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from typing import Any

import pytest
from dialects import DIALECTS
from kernels import Kernel, error, shown
from server import serve

PNG = b"\x89PNG\r\n\x1a\n"
IMAGES = """
from IPython.display import display
from PIL import Image
def show(count): display(*(Image.new("RGB", (60, 50 + n), "red") for n in range(count)))
"""


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


def test_an_input_is_filled_in_as_it_was_typed(notebook: Notebook) -> None:
    number = notebook.ok("%time x = 1")
    assert notebook.sent(f"Explain {{{{ In[{number}] }}}} and {{{{ _i{number} }}}}.") == (
        "Explain %time x = 1 and %time x = 1.", []
    )  # fmt: skip


@pytest.mark.parametrize("plot", ["plt.plot([1, 3, 2]);", "plt.plot([1, 3, 2])\nplt.show()"])
def test_a_plot_goes_along_as_the_image_that_the_cell_shows(notebook: Notebook, plot: str) -> None:
    outputs = notebook.run(plot)
    displayed = [o["content"]["data"] for o in outputs if o["msg_type"] == "display_data"]
    number = notebook.reply["execution_count"]
    text, (image,) = notebook.sent(f"What does {{{{ Out[{number}] }}}} show? Look at {{{{ Out[{number}] }}}}.")
    assert image == b64decode(displayed[0]["image/png"])
    assert text.startswith("What does [image: output 1] show? Look at [image: output 1].")
    assert f"With Out[{number}] (556 × 413, ~" in notebook.said
    assert notebook.sent("See:", f"-m gpt-5.2 -a Out[{number}]")[1][0].startswith(PNG)


def test_several_plots_of_a_cell_go_along_together(notebook: Notebook) -> None:
    number = notebook.ok("for n in range(2):\n    plt.plot([n, 1])\n    plt.show()")
    text, images = notebook.sent(f"Compare {{{{ Out[{number}] }}}}.")
    assert text.startswith("Compare [2 images: output 1].")
    assert len(images) == 2
    assert images[0] != images[1]
    notebook.ok(
        "from IPython.display import clear_output\nplt.plot([1, 2])\nplt.show()\nclear_output(wait=True)\nprint(1)"
    )
    assert f"there is no Out[{number + 2}]. There are Out[" in notebook.fails(f"%%chat\n{{{{ Out[{number + 2}] }}}}")


def test_a_value_that_is_an_image_goes_along_as_one(notebook: Notebook) -> None:
    notebook.ok("plt.figure(); plt.plot([1, 2]); fig = plt.gcf(); plt.close(); fig")
    text, (image,) = notebook.sent("What is {{ _ }}?")
    assert image.startswith(PNG)
    assert text.startswith("What is [image: output 1]?")


def test_a_model_without_eyes_gets_the_prompt_without_the_image_and_a_line_says_so(
    notebook: Notebook, local_model: str
) -> None:
    number = notebook.ok("plt.plot([1, 3, 2]);")
    said = shown(notebook.run(f"%%chat -m {local_model} --max-tokens 8\nWhat does {{{{ Out[{number}] }}}} show?"))
    assert f"Out[{number}] is an image, and {local_model} takes text only: the prompt goes without it." in said
    prompt = notebook.value("__import__('jupyter_ctx').get_chat().turns[0].prompt")
    assert prompt == "What does [image: output 1, not sent] show?"


@pytest.mark.parametrize(
    ("made", "text"),
    [
        ("HTML('<table><tr><td>a<td>b</tr></table><script>bad()</script>')", "a | b"),
        ("SVG('<svg><text>Hi</text></svg>')", "<svg><text>Hi</text></svg>"),
    ],
)
def test_markup_is_filled_in_as_its_text_returned_displayed_or_attached(
    notebook: Notebook, made: str, text: str
) -> None:
    returned = notebook.ok(f"from IPython.display import *\n{made}")
    displayed = notebook.ok(f"display({made})")
    assert notebook.sent(f"{{{{ Out[{returned}] }}}}; {{{{ Out[{displayed}] }}}}") == (f"{text}; {text}", [])
    assert f"\n{text}\n" in notebook.sent("See:", f"-m gpt-5.2 -a Out[{displayed}]")[0]


def test_what_is_shown_as_no_image_is_told_in_words(notebook: Notebook) -> None:
    number = notebook.ok(
        "%config InlineBackend.figure_formats = ['svg']\nplt.plot([1, 2]);\nfig = plt.gcf()\nplt.show()"
    )
    said = notebook.fails(f"%%chat -m gpt-5.2\n{{{{ Out[{number}] }}}}")
    assert "it was displayed as an SVG picture, which is not kept: name its variable with -a" in said
    assert "Write -a fig on the first line instead" in notebook.fails("%%chat -m gpt-5.2\n{{ fig }}")
    assert notebook.sent("See:", "-m gpt-5.2 -a fig")[1][0].startswith(PNG)


def test_a_display_that_is_brought_up_to_date_is_what_it_shows_now(notebook: Notebook) -> None:
    image = "from PIL import Image\nfrom IPython.display import display\n"
    number = notebook.ok(f"{image}shown = display(Image.new('RGB', (60, 50), 'red'), display_id=True)")
    (red,) = notebook.sent(f"{{{{ Out[{number}] }}}}")[1]
    outputs = notebook.run("shown.update(Image.new('RGB', (60, 50), 'blue'))")
    (blue,) = notebook.sent(f"{{{{ Out[{number}] }}}}")[1]
    assert blue == b64decode(outputs[-1]["content"]["data"]["image/png"])
    assert blue != red


def test_nothing_is_kept_after_the_extension_is_unloaded(notebook: Notebook) -> None:
    hooks = "get_ipython().display_pub._hooks"
    assert notebook.value(f"len({hooks})") == "1"
    notebook.ok("%reload_ext jupyter_ctx")
    assert notebook.value(f"len({hooks})") == "1"
    notebook.ok("%unload_ext jupyter_ctx")
    assert notebook.value(f"len({hooks})") == "0"


def test_an_unknown_number_is_an_error_that_names_those_there_are(notebook: Notebook) -> None:
    plot, value = notebook.ok("plt.plot([1, 3, 2])\nplt.show()"), notebook.ok("1 + 1")
    notebook.ok("%%chat -m gpt-5.2 --preview\nNo output of the user's.")
    said = notebook.fails("%%chat -m gpt-5.2\n{{ Out[9999] }}")
    assert f"{{{{ Out[9999] }}}}: there is no Out[9999]. There are Out[{plot}], Out[{value}]." in said
    assert "What a cell prints is not kept: store it in a variable." in said
    assert "there is no Out[9999]" in notebook.fails("%%chat -m gpt-5.2\n{{ _9999 }}")
    assert f"-a Out[9999]: KeyError: 9999. There are {plot}, {value}." in notebook.fails("%%chat -a Out[9999]\nx")
    assert not notebook.seen


def test_names_of_the_user_s_own_stay_theirs(notebook: Notebook) -> None:
    notebook.ok("Out = {3: 'mine'}; In = ['a', 'b', 'c']; _3 = 'too'")
    assert notebook.sent("{{ Out[3] }} {{ In[2] }} {{ _3 }}") == ("mine c too", [])
    notebook.ok("for _ in range(3): pass")
    assert notebook.sent("{{ _ }}") == ("2", [])


def test_the_newest_thing_is_what_a_cell_of_the_user_s_has_shown_or_returned(notebook: Notebook) -> None:
    notebook.ok("41 + 1")
    notebook.sent("Hello")
    number = notebook.ok("plt.plot([1, 3, 2])\nplt.show()")
    text, images = notebook.sent("What does this show? {{ _ }}")
    assert text.startswith("What does this show? [image: output 1]")
    assert len(images) == 1
    assert notebook.sent("And after a chat cell? {{ _ }}")[0] == "And after a chat cell? Fine."
    assert notebook.value("_.text") == "Fine."
    notebook.ok("plt.plot([1, 4, 2])\nplt.show()")
    assert notebook.sent("See:", "-m gpt-5.2 -a _")[1][0].startswith(PNG)
    number = notebook.ok("[4, 2]")
    notebook.ok("print('only printed')")
    assert notebook.sent("What is {{ _ }}?")[0] == "What is [4, 2]?"
    assert f"{{{{ _ }}}} is Out[{number}]: the cells after it returned and displayed nothing." in notebook.said


def test_one_of_several_images_goes_alone(notebook: Notebook) -> None:
    number = notebook.ok(f"{IMAGES}show(12)")
    text, (image,) = notebook.sent(f"What is {{{{ Out[{number}][1] }}}}?")
    assert text.startswith("What is [image: output 1[1]]?")
    assert notebook.sent("See:", f"-m gpt-5.2 -a Out[{number}][1]")[1] == [image]
    assert f"Out[{number}] has 12 images, and the first is number 0." in notebook.fails(
        f"%%chat -m gpt-5.2\n{{{{ Out[{number}][12] }}}}"
    )
    assert f"such as Out[{number}][0]" in notebook.fails(f"%%chat -m gpt-5.2\n{{{{ Out[{number}] }}}}")


def test_an_image_is_a_part_of_the_turn_which_names_it(notebook: Notebook) -> None:
    number = notebook.ok("plt.plot([1, 3, 2]);")
    notebook.ok(f"%%chat -m gpt-5.2 --base-url {notebook.url}\nWhat does {{{{ Out[{number}] }}}} show?")
    notebook.ok("from jupyter_ctx import get_chat\nturn, = get_chat().turns")
    assert notebook.value("turn.record.sources").startswith(f"('Out[{number}] (556 × 413")
    assert notebook.value("[file.name for file in turn.attachments]") == "['output 1']"
    assert f"Out[{number}] (556 × 413" in shown(notebook.run("%%chat --preview\n{{ " + f"Out[{number}]" + " }}"))


def test_only_the_newest_images_are_kept(notebook: Notebook) -> None:
    notebook.ok("from jupyter_ctx.magics import output_recorder\noutput_recorder.MOST_DISPLAYS = 10")
    first, second, _ = (notebook.ok(f"{IMAGES}show({count})") for count in (1, 1, 9))
    notebook.ok("output_recorder.MOST_DISPLAYS = 2_000")
    said = notebook.fails(f"%%chat\n{{{{ Out[{first}] }}}}")
    assert f"what Out[{first}] displayed is no longer kept: run that cell again." in said
    assert notebook.sent(f"{{{{ Out[{second}] }}}}")[1]
