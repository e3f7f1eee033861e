"""The room that one text takes which goes with a prompt."""

from __future__ import annotations

from ..attachments.attached import TextRoom
from ..config.settings import Settings
from ..models.registry import Models


def text_room(models: Models, settings: Settings) -> TextRoom:
    """Return how much room one attached text may take: the share of the limit that the settings leave it.

    The same value in the same room becomes the same text, so that the stored answer to it is found again: the room
    depends on the settings and the model's name alone.
    """
    limit, count = models.by_name(settings)
    return TextRoom(round(settings.attach_share * limit), count)
