"""Figures, charts and images of real libraries go along as images that every provider takes."""

from __future__ import annotations

import base64
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import imagesize
import pytest
from requirements import need

from jupyter_ctx import InvalidRequestError, MissingDependencyError
from jupyter_ctx.attachments.attached import Attached, TextRoom
from jupyter_ctx.attachments.attached_values import attached_value
from jupyter_ctx.attachments.files_and_pages import attached_file
from jupyter_ctx.attachments.images import MOST_IMAGE_BYTES
from jupyter_ctx.runtime.redaction import Redactor
from jupyter_ctx.testing import count_characters

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from PIL import Image  # noqa: E402

DATA = pd.DataFrame({"x": range(10), "y": range(10), "g": list("ab") * 5})

ROOM = TextRoom(2_000, count_characters)


@pytest.fixture(autouse=True)
def closed_figures() -> Iterator[None]:
    yield
    plt.close("all")


def attached(value: Any) -> Attached:
    return attached_value("fig", value, TextRoom(2_000, count_characters), Redactor())


def pixels(data: bytes) -> tuple[int, int]:
    width, height = imagesize.get(io.BytesIO(data))
    return width, height


def opened(found: Attached) -> Image.Image:
    return Image.open(io.BytesIO(found.files[0].data))


def saved(image: Image.Image, kind: str = "PNG") -> bytes:
    data = io.BytesIO()
    image.save(data, kind)
    return data.getvalue()


def plotted() -> tuple[Any, dict[str, Any]]:
    """A figure, and all that plotting on it has returned."""
    figure, axes = plt.subplots(2, 2, figsize=(2, 2))
    for each in axes.flat:
        each.set_axis_off()  # which takes long to draw
    return figure, {
        "figure": figure, "array of axes": axes, "row of axes": axes[0], "axes": axes[0, 0], "canvas": figure.canvas,
        "lines": axes[0, 0].plot([1, 2, 3]), "bars": axes[0, 1].bar([1, 2], [3, 4]),
        "histogram": axes[1, 0].hist([1, 2, 2, 3]),
        "error bars": axes[0, 0].errorbar([1, 2], [1, 2], yerr=0.1), "patch": figure.patch,
    }  # fmt: skip


def test_what_plotting_returns_is_its_figure() -> None:
    _, parts = plotted()
    images = {name: attached(part).files for name, part in parts.items()}
    assert {len(files) for files in images.values()} == {1}
    assert len({files[0].data for files in images.values()}) == 1
    assert images["figure"][0].media_type == "image/png"


def test_a_figure_stays_as_it_is_and_gives_the_same_bytes_again() -> None:
    figure, _ = plotted()
    figure.set_facecolor("lightyellow")

    def state() -> tuple[Any, ...]:
        axes = figure.axes[0]
        return (
            figure.dpi, id(figure.canvas), figure.get_facecolor(), tuple(figure.get_size_inches()), axes.get_xlim(),
            tuple(axes.get_position().bounds), plt.get_fignums(), plt.gcf() is figure, dict(matplotlib.rcParams),
        )  # fmt: skip

    figure.canvas.draw()
    before = state()
    first = attached(figure)
    assert state() == before
    figure.canvas.draw()
    assert attached(figure).files == first.files
    assert not figure.stale, "pyplot would draw it again"
    red, green, blue = opened(first).convert("RGB").getpixel((3, 3))  # type: ignore[misc]
    assert (red, green, blue) == (255, 255, 224)


# images


@pytest.mark.parametrize("mode", ["1", "LA", "P", "RGBA", "CMYK", "F", "I;16"])
def test_an_image_of_any_mode_is_sent(mode: str) -> None:
    found = attached(Image.new(mode, (50, 40)))
    assert found.what == "50 × 40, about 85 tokens"
    assert opened(found).size == (50, 40)


def test_a_photograph_is_sent_small_upright_and_without_where_it_was_taken() -> None:
    noise = Image.fromarray(np.random.default_rng(1).integers(0, 255, (2_000, 3_000, 3), dtype="uint8"))
    exif, data = Image.Exif(), io.BytesIO()
    exif[0x0112], exif[0x010E] = 6, "at home"
    noise.save(data, "JPEG", exif=exif, quality=98)
    assert b"at home" in data.getvalue()
    found = attached(data.getvalue())
    assert found.files[0].media_type == "image/jpeg"
    assert opened(found).size == (1_045, 1_568)
    assert b"at home" not in found.files[0].data
    assert len(found.files[0].data) < MOST_IMAGE_BYTES
    assert "reduced from 2,000 × 3,000" in found.what


def test_a_file_of_an_image_that_no_provider_would_take_is_made_smaller(tmp_path: Path) -> None:
    small, wide, large = tmp_path / "small.png", tmp_path / "wide.png", tmp_path / "large.png"
    small.write_bytes(saved(Image.new("RGB", (2_000, 10))))
    wide.write_bytes(saved(Image.new("RGB", (9_000, 10))))
    noise = Image.fromarray(np.random.default_rng(1).integers(0, 255, (1_300, 1_100, 3), dtype="uint8"))
    noise.save(large, "PNG", compress_level=0)
    assert large.stat().st_size > MOST_IMAGE_BYTES
    assert attached_file(small, Redactor(), ROOM).files[0].data == small.read_bytes()
    assert attached_file(small, Redactor(), ROOM).what == ""
    assert attached_file(wide, Redactor(), ROOM).what == "1,568 × 2, reduced from 9,000 × 10"
    (image,) = attached_file(large, Redactor(), ROOM).files
    assert image.media_type == "image/jpeg"
    assert len(image.data) < MOST_IMAGE_BYTES


def test_without_pillow_only_an_image_that_is_too_large_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = saved(Image.new("RGB", (2_000, 10)))
    noise = saved(Image.fromarray(np.random.default_rng(1).integers(0, 255, (1_300, 1_300, 3), dtype="uint8")))
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert attached(wide).files[0].data == wide
    with pytest.raises(MissingDependencyError, match=r"5,\d{3},\d{3} bytes.*pip install pillow"):
        attached(noise)


class Drawing:
    """An object that shows itself as an image, in one of the forms that IPython knows."""

    def __init__(self, data: Any) -> None:
        self.data = data


class AsPng(Drawing):
    def _repr_png_(self) -> Any:
        return self.data


class AsBundle(Drawing):
    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        return {"text/plain": "drawing", "image/png": self.data}


def test_objects_that_show_themselves_as_images_are_images() -> None:
    from IPython.display import Image as Shown

    png, jpeg = saved(Image.new("RGB", (30, 20))), saved(Image.new("RGB", (30, 20)), "JPEG")
    written = base64.b64encode(png).decode()
    for value in (
        AsPng(png), AsPng(written), AsPng((png, {"width": 3})), AsBundle(png), AsBundle(written), Shown(png), png,
        bytearray(png),
    ):  # fmt: skip
        assert attached(value).files[0].data == png, value
    assert attached(Shown(jpeg)).files[0].media_type == "image/jpeg"


# charts


def test_a_chart_is_drawn_by_its_own_converter() -> None:
    altair = pytest.importorskip("altair")
    pytest.importorskip("vl_convert")
    chart = altair.Chart(DATA).mark_line().encode(x="x", y="y")
    found = attached(chart | chart)
    assert found.files[0].media_type == "image/png"
    assert max(pixels(found.files[0].data)) > 600
    with pytest.raises(InvalidRequestError, match=r"^fig .*nothing"):
        attached(altair.Chart(DATA).mark_line().encode(x="nothing"))


@pytest.mark.load
def test_a_figure_of_plotly_is_drawn_in_its_own_size_or_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph, kaleido = pytest.importorskip("plotly.graph_objects"), pytest.importorskip("kaleido")
    figure = graph.Figure(graph.Scatter(y=[1, 3, 2]), layout={"width": 5_000, "height": 3_000})

    def no_chrome(*_: Any, **__: Any) -> bytes:
        raise kaleido.errors.ChromeNotFoundError

    with monkeypatch.context() as patched, pytest.raises(InvalidRequestError, match="plotly_get_chrome"):
        patched.setattr(kaleido, "calc_fig_sync", no_chrome)
        attached(figure)
    try:
        found = attached(figure)
    except InvalidRequestError as error:  # there is no browser
        need(False, str(error))
    assert found.what == "1,568 × 941, reduced from 5,000 × 3,000, about 1,600 tokens"
