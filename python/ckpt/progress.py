"""What the user sees while a plan is searched: a bar on a terminal or in a notebook, else nothing.

The planner calls back ten times a second with its newest line (bindings/Watch.h).
docs/Rationale/README.md says why tqdm draws the bar.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any

Progress = Callable[[str], None]
_Watch = Callable[[str], None]


def _bar(seconds: float) -> Any:
    """A bar of `seconds`; `None` where nobody would see it or tqdm is missing."""
    try:
        from tqdm import auto, notebook
    except ImportError:
        return None
    # `None` asks tqdm whether it writes to a terminal, which a notebook is not.
    hidden = False if issubclass(auto.tqdm, notebook.tqdm) else None
    form = "{desc} |{bar:24}| {elapsed}{postfix}" if seconds else "{desc} {elapsed}{postfix}"
    bar = auto.tqdm(total=seconds or None, desc="ckpt: planning", bar_format=form, leave=False, disable=hidden)
    return None if bar.disable else bar


def _lines(progress: Progress) -> _Watch:
    last = ""

    def watch(line: str) -> None:
        nonlocal last
        if line != last:
            last = line
            progress(line)

    return watch


@contextlib.contextmanager
def shown(progress: Progress | None, seconds: float) -> Iterator[_Watch | None]:
    """Yields the function that the planner calls while it searches.

    Args:
        progress: of the user, called with each new line; `None` draws a bar.
        seconds: when the search ends; 0 where nobody knows.
    """
    if progress is not None:
        yield _lines(progress)
        return
    if (bar := _bar(seconds)) is None:
        yield None
        return
    start = time.monotonic()

    def watch(line: str) -> None:
        bar.n = min(time.monotonic() - start, seconds)
        bar.set_postfix_str(line)

    with bar:
        yield watch
