"""Parameters of JAX's equations that differ by its version."""

from __future__ import annotations

from typing import Any


def scan_counts(params: Any) -> tuple[int, int]:
    """How many of a scan's operands are constants, and how many are carries behind them."""
    if "num_consts" in params:
        return params["num_consts"], params["num_carry"]
    constants, carries, _ = params["ft_in"].unpack()  # Since JAX 0.11, the operands are a tree.
    return len(constants), len(carries)
