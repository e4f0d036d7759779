"""Whole steps by `ckpt.compile` beside the framework that they come from, on one core.

usage: compiled_rows.py [jax|torch] [MODEL] [--budget BUDGET] [--runs RUNS]

A step is forward pass, backward pass and gradient descent: of GPT-2 in plain JAX (gpt2-tiny, gpt2-mid, gpt2), or
of a module of another project in PyTorch (the MODULES of torch_modules.py).
Each round runs every engine once, and the fastest round of each counts. A step of PyTorch trains a module in place;
a step of JAX returns new weights, and nothing is donated. Arguments do not count as memory:

    temporary memory    the arena; XLA's temp_size_in_bytes; for PyTorch all that its allocator gives out
    results             new arrays

docs/Compile.md holds the table that it prints.
"""

from __future__ import annotations

import argparse
import copy
import dataclasses
import functools
import os
import time
from collections.abc import Callable
from typing import Any

if __name__ == "__main__":
    # Frameworks count the cores of the process when they are imported.
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import ckpt  # noqa: E402
from gpt2_sizes import SIZES  # noqa: E402


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


def ours_name(budget: Any) -> str:
    return "`ckpt.compile`" if budget is None else f"`ckpt.compile`, {budget}"


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
    engines = [Engine("`jax.jit`", run, memory.temp_size_in_bytes, memory.output_size_in_bytes)]
    for budget in budgets:
        compiled = ckpt.compile(step, *arguments, budget=budget)
        nbytes = sum(tensor.nbytes for tensor in compiled.results)
        run = lambda compiled=compiled: compiled(*arguments)
        engines.append(Engine(ours_name(budget), run, compiled.arena_bytes, nbytes, distance(run())))
    return engines


def of_module(name: str, module: Any, batch: Any, compiled: Callable[..., Any], expected: list[Any]) -> Engine:
    """Trains a copy of `module`.

    Args:
        compiled: gives the step for a module, its optimizer and a batch.
        expected: the loss, weights and buffers of the first engine after its first step, which writes them.
    """
    import ckpt.torch
    from torch_modules import optimizer_of

    own = copy.deepcopy(module)
    optimizer = optimizer_of(own)
    step = compiled(own, optimizer, *batch)
    run = lambda: step(own, optimizer, *batch)
    after = [each.detach() for each in (run(), *own.parameters(), *own.buffers())]
    if not expected:
        expected.extend(each.clone() for each in after)
    difference = max(float((mine - theirs).abs().max()) for mine, theirs in zip(after, expected, strict=True))
    temporary = step.arena_bytes if isinstance(step, ckpt.CompiledStep) else ckpt.torch.measure(run).peak_bytes
    return Engine(name, run, temporary, 0, difference)


def of_torch(model: str, budgets: list[Any]) -> list[Engine]:
    import torch
    from torch_modules import make, train

    def eager(*_: Any) -> Any:
        return train

    def inductor(own: Any, *_: Any) -> Any:
        call = torch.compile(own, dynamic=False)
        return lambda _, *rest: train(call, *rest)

    torch.set_num_threads(1)
    module, batch = make(model)
    expected: list[Any] = []
    engines = [of_module("PyTorch, eager", module, batch, eager, expected)]
    engines.append(of_module("`torch.compile`", module, batch, inductor, expected))
    for budget in budgets:
        compiled = functools.partial(ckpt.compile, train, budget=budget)
        engines.append(of_module(ours_name(budget), module, batch, compiled, expected))
    return engines


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
