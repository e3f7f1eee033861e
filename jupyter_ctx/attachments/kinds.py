"""The package and the name of a class, which tell what comes from a library without importing it."""

from __future__ import annotations


def module_of(kind: type) -> str:
    """Return the top-level package of a class, without asking its metaclass."""
    found = type.__dict__["__module__"].__get__(kind)
    return found.partition(".")[0] if type(found) is str else ""


def name_of(kind: type) -> str:
    """Return the name of a class, without asking its metaclass."""
    return str(type.__dict__["__name__"].__get__(kind))
