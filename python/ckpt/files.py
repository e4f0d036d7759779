"""Files that are whole or not there: after an interrupt or an error, the file before it stands."""

from __future__ import annotations

import contextlib
import os

from .errors import CkptError


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Writes `text` to the file at `path`; a device or a pipe is written as it is.

    Raises:
        CkptError: the file cannot be written.
    """
    given, path = path, os.path.realpath(path)
    part = path if os.path.exists(path) and not os.path.isfile(path) else f"{path}.part"
    try:
        with open(part, "w", encoding="utf-8") as file:
            file.write(text)
        if part != path:
            os.replace(part, path)
    except BaseException as error:
        with contextlib.suppress(FileNotFoundError):
            if part != path:
                os.unlink(part)
        if isinstance(error, OSError):
            raise CkptError(f"{os.fspath(given)!r} cannot be written: {error.strerror}") from None
        raise
