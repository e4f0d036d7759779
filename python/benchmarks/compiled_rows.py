"""Whole steps by `ckpt.compile` beside the framework that they come from, on one core.

usage: compiled_rows.py [jax|torch] [MODEL] [--budget BUDGET] [--runs RUNS]

A step is forward pass, backward pass and gradient descent: of GPT-2 in plain JAX (gpt2-tiny, gpt2-mid, gpt2), or
of a module of another project in PyTorch (the MODULES of torch_modules.py).
Each round runs every engine once, and the fastest round of each counts. Arguments do not count as memory:

    temporary memory    the arena; XLA's temp_size_in_bytes; for PyTorch all that its allocator gives out
    results             new arrays; PyTorch's optimizer writes into its arguments

docs/Compile.md holds the table that it prints.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import time
from collections.abc import Callable
from typing import Any

if __name__ == "__main__":
    # Frameworks count the cores of the process when they are imported.
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import ckpt  # noqa: E402
from gpt2_sizes import RATE, SIZES  # noqa: E402


@dataclasses.dataclass
class Engine:
    """One way to run the step.

    Attributes:
        run: one step, until its results are there.
        temporary, results: bytes beside the arguments.
        difference: the largest from the framework's own results, in any element.
    """

    name: str
    run: Callable[[], Any]
    temporary: int
    results: int
    difference: float = 0.0


def ours(step: Any, arguments: Any, budgets: list[Any], distance: Callable[[Any], float]) -> list[Engine]:
    """`ckpt.compile` for each of `budgets`; `distance` says how far results are from the framework's."""
    engines = []
    for budget in budgets:
        compiled = ckpt.compile(step, *arguments, budget=budget)
        name = "`ckpt.compile`" if budget is None else f"`ckpt.compile`, {budget}"
        nbytes = sum(tensor.nbytes for tensor in compiled.results)
        run = lambda compiled=compiled: compiled(*arguments)
        engines.append(Engine(name, run, compiled.arena_bytes, nbytes, distance(run())))
    return engines


def of_jax(model: str, budgets: list[Any]) -> list[Engine]:
    import gpt2_jax
    import jax
    import numpy as np

    step, arguments = gpt2_jax.make(SIZES[model])
    jitted = jax.jit(step).lower(*arguments).compile()
    memory = jitted.memory_analysis()
    expected = jax.tree.leaves(jitted(*arguments))

    def distance(results: Any) -> float:
        pairs = zip(jax.tree.leaves(results), expected, strict=True)
        return max(float(np.abs(np.asarray(mine) - np.asarray(theirs)).max()) for mine, theirs in pairs)

    run = lambda: jax.block_until_ready(jitted(*arguments))
    framework = Engine("`jax.jit`", run, memory.temp_size_in_bytes, memory.output_size_in_bytes)
    return [framework, *ours(step, arguments, budgets, distance)]


def flat(results: Any) -> list[Any]:
    """The tensors of what a step of torch_modules.py returns."""
    loss, weights, buffers = results
    return [loss, *weights.values(), *buffers.values()]


def of_torch(model: str, budgets: list[Any]) -> list[Engine]:
    import ckpt.torch
    import torch
    import torch_modules

    torch.set_num_threads(1)
    module, step, (weights, buffers, *batch) = torch_modules.make(model)
    expected = [each.detach() for each in flat(step(weights, buffers, *batch))]
    copies = [{name: each.detach().clone() for name, each in given.items()} for given in (weights, buffers)]

    def distance(results: Any) -> float:
        pairs = zip(flat(results), expected, strict=True)
        return max(float((mine - theirs).abs().max()) for mine, theirs in pairs)

    optimizer = torch.optim.SGD(module.parameters(), lr=RATE)

    def engine(name: str, call: Any) -> Engine:
        def run() -> None:
            call(*batch).backward()
            optimizer.step()
            optimizer.zero_grad()

        run()
        return Engine(name, run, ckpt.torch.measure(run).peak_bytes, 0)

    frameworks = [engine("PyTorch, eager", module), engine("`torch.compile`", torch.compile(module, dynamic=False))]
    return [*frameworks, *ours(step, (*copies, *batch), budgets, distance)]


def fastest(engines: list[Engine], runs: int) -> list[float]:
    """Seconds of each engine's fastest round."""
    times = [float("inf")] * len(engines)
    for _ in range(runs):
        for number, engine in enumerate(engines):
            start = time.perf_counter()
            engine.run()
            times[number] = min(times[number], time.perf_counter() - start)
    return times


def table(name: str, engines: list[Engine], times: list[float]) -> str:
    lines = [
        f"| {name} | temporary memory | results | fastest step | of the first row's | largest difference |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for engine, seconds in zip(engines, times):
        cells = [
            engine.name,
            f"{engine.temporary / 2**20:,.1f} MiB",
            f"{engine.results / 2**20:,.1f} MiB",
            f"{1000 * seconds:,.0f} ms",
            f"{seconds / times[0]:.2f}",
            f"{engine.difference:.0e}" if "ckpt" in engine.name else "",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("framework", choices=("jax", "torch"))
    parser.add_argument("model", nargs="?", default="gpt2-mid")
    parser.add_argument("--budget", default="50%")
    parser.add_argument("--runs", type=int, default=10)
    options = parser.parse_args()
    engines = {"jax": of_jax, "torch": of_torch}[options.framework](options.model, [None, options.budget])
    print(table(f"{options.model} from {options.framework}", engines, fastest(engines, options.runs)))


if __name__ == "__main__":
    main()
