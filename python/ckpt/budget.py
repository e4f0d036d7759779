"""Budgets as people write them: bytes, "12GiB", or a share such as "50%"; and the limits of searches."""

from __future__ import annotations

import numbers
import re

from .errors import CkptError

_UNITS = {
    "": 1 << 20,
    "B": 1,
    "KIB": 1 << 10,
    "MIB": 1 << 20,
    "GIB": 1 << 30,
    "TIB": 1 << 40,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
}

Budget = int | str


def is_share(budget: Budget) -> bool:
    """True for a budget such as "50%", which refers to an unplanned step."""
    return isinstance(budget, str) and budget.strip().endswith("%")


def parse_budget(budget: Budget, whole_bytes: int = 0) -> int:
    """Returns the bytes of `budget`; a share is one of `whole_bytes`.

    An `int` counts bytes. A text has a unit, such as "512KiB" or "1.5GB"; a
    text without a unit counts MiB, as the command line does.

    A share of nothing is no bytes: a step that takes none meets it.

    Raises:
        CkptError: `budget` is not positive or not a budget.
    """
    if isinstance(budget, bool) or not isinstance(budget, (numbers.Integral, str)):
        raise CkptError(f"expected a budget such as '12GiB', '50%' or bytes, but got {budget!r}")
    least = 1
    if not isinstance(budget, str):
        number = int(budget)
    else:
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(%|[A-Za-z]*)\s*", budget)
        unit = match.group(2).upper() if match else ""
        if not match or (unit != "%" and unit not in _UNITS):
            raise CkptError(f"expected a budget such as '12GiB', '50%' or bytes, but got {budget!r}")
        scale = whole_bytes / 100 if unit == "%" else _UNITS[unit]
        number = int(float(match.group(1)) * scale)
        least = 0 if unit == "%" and whole_bytes == 0 else 1
    if number < least or number >= 1 << 62:
        raise CkptError(f"expected a budget of at least one byte, but got {budget!r}")
    return number


def check_limits(time_limit: float | None, effort: float | None = None) -> None:
    """Raises `CkptError` unless both are seconds, or `None`."""

    def is_within(seconds: float | None, least: float) -> bool:
        return seconds is None or (isinstance(seconds, numbers.Real) and least <= float(seconds) < 1e9)

    if not is_within(time_limit, 0):
        raise CkptError(f"expected a time limit of at least 0 seconds, but got {time_limit!r}")
    if not is_within(effort, 1e-9):
        raise CkptError(f"expected an effort above 0 seconds, but got {effort!r}")


def format_bytes(number: int) -> str:
    """Returns bytes for people, such as "1,276.0 MiB"."""
    size = float(number)
    for unit in ("B", "KiB", "MiB"):
        if abs(size) < 10000:
            return f"{number} B" if unit == "B" else f"{size:,.1f} {unit}"
        size /= 1024
    return f"{size:,.1f} GiB"


def exact_bytes(number: int) -> str:
    """Returns bytes to read and, exactly, to ask for: "8.0 KiB (8192 bytes)"."""
    readable = format_bytes(number)
    return readable if readable.endswith(" B") else f"{readable} ({number} bytes)"
