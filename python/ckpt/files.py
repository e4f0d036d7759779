"""Files that are whole or not there: after an interrupt or an error, the file before it stands."""

from __future__ import annotations

import contextlib
import os


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Writes `text` to the file at `path`; a device or a pipe is written as it is."""
    path = os.path.realpath(path)
    part = path if os.path.exists(path) and not os.path.isfile(path) else f"{path}.part"
    try:
        with open(part, "w", encoding="utf-8") as file:
            file.write(text)
        if part != path:
            os.replace(part, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            if part != path:
                os.unlink(part)
        raise
