"""XLA's temporary memory, with plans and without, at shares of the plan that recomputes nothing.

usage: jax_rows.py [ROW ...] [--shares 75,50,35] [--no-times]

Each line names the budget, the bytes that XLA takes with the plan, the extra work, the rounds of planning, the seconds
of tracing and planning, those of XLA, the largest difference of a result, and the processor time of a step over
that of plain `jax.jit`, in turns. Searches count work, so that plans do not depend on the load of the machine.
"""

from __future__ import annotations

import time
from typing import Any

import jax

import ckpt
import ckpt.jax
from ckpt.jax import xla
from ckpt.jax.step import PlanOptions, TracedStep
from jax_steps import STEPS, make
from rows import parser_of

MIB = 2**20


def problem_of(step: Any, arguments: Any) -> ckpt.Problem:
    return TracedStep(step, arguments, {}, PlanOptions()).problem


def time_of(executable: Any, arguments: Any) -> float:
    start = time.process_time()
    jax.block_until_ready(executable(*arguments))
    return time.process_time() - start


def ratio_of_times(executable: Any, plain: Any, arguments: Any, turns: int = 8) -> float:
    """The least processor time of a planned step over that of the plain one, in turns."""
    times = [(time_of(executable, arguments), time_of(plain, arguments)) for _ in range(turns)]
    return min(t for t, _ in times[1:]) / min(t for _, t in times[1:])


def row(step: Any, arguments: Any, budget: int, effort: float, plain: Any, with_times: bool) -> str:
    planned = ckpt.jax.jit(step, budget=budget, effort=effort)
    start = time.perf_counter()
    try:
        made = planned.compile(*arguments)
    except ckpt.BudgetError as error:
        return f"none: {error} ({time.perf_counter() - start:.1f} s)"
    report = made.report
    whole = time.perf_counter() - start - report.compile_seconds
    text = f"{report.temp_bytes / MIB:>8.2f} {100 * (report.temp_bytes / budget - 1):>+7.1f} %"
    text += f" {100 * report.extra_flops_share:>7.2f} % {report.rounds:>2} rounds {whole:>5.1f} s"
    text += f" {report.compile_seconds:>5.1f} s {planned.check(*arguments).largest_difference:.0e}"
    return text + (f" {ratio_of_times(made.executable, plain, arguments):>6.2f}" if with_times else "")


def main() -> None:
    parser = parser_of(__doc__, STEPS)
    parser.add_argument("--no-times", action="store_true")
    options = parser.parse_args()
    print(f"JAX {jax.__version__} on {jax.default_backend()}")
    for name in options.rows or STEPS:
        step, arguments = make(name)
        arguments = jax.device_put(arguments)
        plain = xla.compiled(step, arguments, {})
        problem = problem_of(step, arguments)
        whole = problem.solve(None, effort=problem.search_seconds).arena_bytes
        print(
            f"{name}: plain jit {xla.temp_bytes(plain) / MIB:.2f} MiB, unlimited plan {whole / MIB:.2f} MiB", flush=True
        )
        for share in map(float, options.shares.split(",")):
            budget = int(whole * share / 100)
            text = row(step, arguments, budget, problem.search_seconds, plain, not options.no_times)
            print(f"  {share:>4g} % {budget / MIB:>8.2f} {text}", flush=True)


if __name__ == "__main__":
    main()
