"""The SDKs that adapters use: which versions serve, and the HTTP library that each is built on."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any, NamedTuple

from ..errors import MissingDependencyError


class Sdk(NamedTuple):
    """A provider's SDK.

    ``package``: its name for pip.
    ``oldest``: the first version that serves, major and minor.
    ``newest``: the last major version that is known to serve; a later one is tried.
    ``on_httpx2``: the first major version that is built on httpx2; those before are built on httpx.
    """

    package: str
    oldest: tuple[int, int]
    newest: int
    on_httpx2: int

    def http_library(self) -> Any:
        """Return the HTTP library of the installed version. Raises MissingDependencyError: none serves."""
        try:
            is_old = self._version() < self.oldest
            library = import_module("httpx2" if self._version()[0] >= self.on_httpx2 else "httpx")
        except Exception as error:  # another package may have installed what it cannot be imported with
            raise self.misfit(error) from None
        if is_old:
            raise self.misfit()
        return library

    def is_unknown(self) -> bool:
        """Return whether the installed version is newer than any that is known to serve."""
        return self._version()[0] > self.newest

    def misfit(self, error: Exception | None = None) -> MissingDependencyError:
        """Return the error that names the SDK as the cause; without ``error``, it is the version."""
        oldest = ".".join(map(str, self.oldest))
        install = f"pip install '{self.package}>={oldest},<{self.newest + 1}'"
        needs = f"jupyter_ctx needs {oldest} to {self.newest}.x: {install}, then restart the kernel."
        what = f"{self.installed} is installed" if error is None else f"{self.package} cannot be used ({error})"
        return MissingDependencyError(f"{what}; {needs}")

    @property
    def installed(self) -> str:
        """The name and version of the SDK that this process uses."""
        return f"{self.package} {import_module(self.package.replace('-', '.')).__version__}"

    def _version(self) -> tuple[int, int]:
        major, minor = re.findall(r"\d+", self.installed.removeprefix(self.package))[:2]
        return int(major), int(minor)
