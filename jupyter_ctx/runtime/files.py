"""Write and locate small files that other kernels may read at any moment."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

from ..errors import InvalidRequestError

FOLDER_VARIABLES = ("JUPYTER_CONFIG_DIR", "JUPYTER_NO_CONFIG", "JUPYTER_PLATFORM_DIRS", "HOME", "USERPROFILE")
NETWORK = re.compile(r"(?i)nfs|cifs|smb|afs|9p|ceph|lustre|gpfs|beegfs|gluster|webdav|davfs|fuse\.(?!fuse-overlayfs)")


def write_whole(path: Path, text: str) -> None:
    """Write a file whole or not at all; of a symbolic link, replace the target. Raises OSError."""
    path = Path(os.path.realpath(path))  # what a link leads to is replaced, and the link stays
    half = path.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with half.open("xb") as file:  # never a file, or a link, that is there already
            file.write(text.encode("utf-8"))
        with suppress(FileNotFoundError):
            half.chmod(path.stat().st_mode & 0o777)
        half.replace(path)
    finally:
        half.unlink(missing_ok=True)


def write_own(path: Path, text: str) -> None:
    """Write a file of jupyter_ctx whole or not at all, and create its folder. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text)


def write_export(path: Path, text: str, is_ours: Callable[[str], bool]) -> Path:
    """Write a file whole or not at all, and return its absolute path. Raises InvalidRequestError.

    A file that is there is replaced only where its text ``is_ours``.
    """
    if not path.parent.is_dir():
        raise InvalidRequestError(f"The folder {path.parent.absolute()} does not exist: create it, or name another.")
    if os.path.isfile(path) and not _has_text(path, is_ours):
        raise InvalidRequestError(f"{path} exists and is not an earlier export: delete it, or choose another name.")
    try:
        write_whole(path, text)
    except (OSError, ValueError) as error:
        raise InvalidRequestError(f"{path} cannot be written: {reason_of(error)}. Name another place.") from None
    return path.absolute()


def _has_text(path: Path, is_ours: Callable[[str], bool]) -> bool:
    try:
        return is_ours(path.read_bytes().decode("utf-8"))
    except (OSError, UnicodeDecodeError):
        return False


def reason_of(error: Exception) -> str:
    """Return why a file cannot be read or written, without its name."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def is_on_network(path: Path) -> bool:
    """Return whether a file is on a network file system, as home folders of a hub or a cluster may be."""
    import psutil

    here = path.parent.resolve()
    try:
        disks = {Path(disk.mountpoint): disk for disk in psutil.disk_partitions(all=True)}
    except (OSError, RuntimeError):
        return False
    disk = next((disks[folder] for folder in (here, *here.parents) if folder in disks), None)
    return disk is not None and (bool(NETWORK.match(disk.fstype)) or "remote" in disk.opts.split(","))


def config_file(name: str) -> Path:
    """Return the path of a user's own file in Jupyter's config folder."""
    return _config_file(name, *map(os.environ.get, FOLDER_VARIABLES))


@cache
def _config_file(name: str, *variables: str | None) -> Path:
    """Return the path as long as these variables have these values: Jupyter looks for the folder each time."""
    from jupyter_core.paths import jupyter_config_dir

    del variables
    return Path(jupyter_config_dir()) / "jupyter_ctx" / name


def data_file(*parts: str) -> Path:
    """Return the path of a file with replaceable data in Jupyter's data folder."""
    from jupyter_core.paths import jupyter_data_dir

    return Path(jupyter_data_dir(), "jupyter_ctx", *parts)


def path_of(path: str | os.PathLike[str]) -> Path:
    """Return a path as a user writes it, with ``~`` for the home folder. Raises InvalidRequestError."""
    try:
        return Path(path).expanduser()
    except (TypeError, RuntimeError):
        raise InvalidRequestError(f"{path!r} is not the path of a file.") from None
