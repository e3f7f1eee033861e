"""What the environment, as a hub fills it, says of the model that conversations begin with."""

from __future__ import annotations

import os
from collections.abc import Collection

from ..config.settings import ADDRESS_VARIABLE, DEFAULT_MODEL, MODEL_VARIABLE, Settings
from ..errors import InvalidRequestError
from ..providers.catalog import SERVICES, key_of
from ..providers.lookup import given_address, split_model
from ..runtime.redaction import without_address_keys


def told_of_environment(settings: Settings, named: Collection[str]) -> str:
    """Return one line on which model begins where, as variables say, or on what they offer; empty: they say nothing.

    ``named``: the settings that IPython's configuration or a course's file gives.
    """
    is_named = "model" in named
    try:
        address, variable = _address(settings, named)
        offer = _offer() if settings.model == DEFAULT_MODEL and not is_named else ""
    except InvalidRequestError as error:  # of an address, which is refused when it is used
        return str(error)
    variables = [MODEL_VARIABLE] if os.environ.get(MODEL_VARIABLE, "").strip() and not is_named else []
    variables += [variable] if variable else []
    at = f" at {address}" if address else ""
    line = f"Model {settings.model}{at}, as set by {' and '.join(variables)} in the environment."
    return without_address_keys(line) if variables else offer


def _address(settings: Settings, named: Collection[str]) -> tuple[str, str]:
    """Return where the model is asked, where that is not its provider's own, and the variable that says so."""
    if settings.base_url is not None:
        return settings.base_url, "" if "base_url" in named else ADDRESS_VARIABLE
    provider = split_model(settings.model)[0]
    address = given_address(provider)
    return address, SERVICES[provider].variable if address else ""


def _offer() -> str:
    """Return how to ask at an address that the environment gives with a key, but without a model."""
    for provider, service in SERVICES.items():
        address = given_address(provider) if key_of(service) else ""
        if address:
            return (
                f"{service.variable} and its key are in the environment: %chat models {provider} lists the models at "
                f"{address}, %chat use {provider}/MODEL asks one."
            )
    return ""
