"""XLA's temporary memory where its own kernels are planned (`ckpt.jax.hlo`), at shares of the memory of plain `jax.jit`.

usage: jax_hlo_rows.py [ROW ...] [--shares 75,50,35]

Each line names the share, the bytes that XLA takes, the extra work, the rounds and seconds of planning, and whether every result has
the bits of plain `jax.jit`. Searches count work, so that plans do not depend on the load of the machine.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

import ckpt
import ckpt.jax
from jax_steps import STEPS, make
from rows import parser_of

MIB = 2**20


def row(lowered: Any, arguments: Any, wanted: Any, share: str) -> str:
    try:
        planned = ckpt.jax.hlo(lowered, budget=share, effort=5)
    except ckpt.BudgetError as error:
        return f"none: {error}"
    report = planned.report
    pairs = zip(jax.tree.leaves(planned(*arguments)), wanted, strict=True)
    bits = "the same bits" if all(np.array_equal(ours, theirs) for ours, theirs in pairs) else "OTHER BITS"
    text = f"{report.temp_bytes / MIB:>8.2f} MiB {100 * report.extra_flops_share:>6.2f} % {report.rounds} rounds"
    return f"{text} {report.planning_seconds:>5.1f} s {bits}"


def main() -> None:
    options = parser_of(__doc__, STEPS).parse_args()
    print(f"JAX {jax.__version__} on {jax.default_backend()}")
    for name in options.rows or STEPS:
        step, arguments = make(name)
        lowered = jax.jit(step).lower(*arguments)
        plain = lowered.compile()
        wanted = jax.tree.leaves(plain(*arguments))
        print(f"{name}: plain jit {plain.memory_analysis().temp_size_in_bytes / MIB:.2f} MiB", flush=True)
        for share in options.shares.split(","):
            print(f"  {share:>4} % {row(lowered, arguments, wanted, share + '%')}", flush=True)


if __name__ == "__main__":
    main()
