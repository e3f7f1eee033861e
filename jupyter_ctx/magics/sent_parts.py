"""What went with a prompt, as a page shows it."""

from __future__ import annotations

from collections.abc import Sequence

from ..attachments.thumbnails import thumbnail
from ..conversation.messages import Attachment
from ..display.answer.strip import SentPart, strip_forms
from ..session.notices import Along
from .attach_named import SENDS_MORE

FENCE = "```"  # around each text but the lines that only name images and PDFs to the model


def sent_part(name: str, facts: str, text: str, files: Sequence[Attachment]) -> SentPart:
    """Return one thing that goes with a prompt, with small pictures of its images.

    ``text`` and ``files`` are as sent, ``facts`` what is sent of what.
    """
    facts, _, more = facts.partition(SENDS_MORE)
    pictures = tuple(filter(None, map(thumbnail, files)))
    remedy = f"-a {more}." if more else ""
    only_names = bool(files) and FENCE not in text
    return SentPart(name, facts, "" if only_names else text, pictures, remedy)


def along_forms(along: Along, *, plain: bool) -> dict[str, str]:
    """Return what goes with a prompt, as it is shown above the answer; ``plain``: as plain text alone."""
    parts = [sent_part(part.name, part.what, part.text, part.files) for part in along.parts]
    return strip_forms(parts, along.line, plain=plain)
