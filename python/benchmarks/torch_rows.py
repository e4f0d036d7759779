"""PyTorch's min-cut partitioner beside plans: peaks that PyTorch's allocator reports, and extra FLOPs.

usage: torch_rows.py [MODEL] [--engine eager|inductor] [--effort SECONDS] [--shares 1,0.5]

The first line is the plan without a budget. For each `activation_memory_budget`, PyTorch's own partitioner
follows, and then a plan whose budget is the peak that PyTorch took. Plans with less follow while inductor
takes more. The lines at the end compare at equal FLOPs: the lowest peak of a plan that repeats no more than PyTorch.
Effort counts work, so that plans do not depend on the load of the machine. docs/PyTorch.md names the
way in which peaks are measured.
"""

from __future__ import annotations

import argparse
import uuid
from collections.abc import Iterator
from typing import Any

import torch
from torch._functorch import config
from torch._functorch.partitioners import min_cut_rematerialization_partition

import ckpt.torch
from ckpt.torch import _private
from ckpt.torch.kernels import flops_of
from torch_steps import STEPS, make

MOST_ROUNDS = 8
SHARES = "1,0.8,0.6,0.4,0.2,0.1,0.05"
Row = tuple[int, int]


class Counted(_private.require("CustomPartitionerFn")):  # type: ignore[misc]
    """A partitioner; `flops` is the work of both of its graphs, by PyTorch's formulas.

    Each has a key of its own: from a cache, PyTorch takes graphs without calling the partitioner.
    """

    def __init__(self, partition: Any) -> None:
        self.partition, self.key, self.flops = partition, uuid.uuid4().hex, 0

    def __call__(self, module: Any, inputs: Any, **options: Any) -> Any:
        graphs = self.partition(module, inputs, **options)
        nodes = [node for graph in graphs for node in graph.graph.nodes if node.op == "call_function"]
        self.flops = sum(map(flops_of, nodes))
        return graphs

    def uuid(self) -> str:
        return self.key


def min_cut(share: float) -> Any:
    """PyTorch's own partition with `share` as its `activation_memory_budget`."""

    def partition(module: Any, inputs: Any, **options: Any) -> Any:
        with config.patch(activation_memory_budget=share):
            return min_cut_rematerialization_partition(module, inputs, **options)

    return partition


def compiled(module: Any, engine: str, partitioner: Any) -> Any:
    """`module` with `partitioner`, for one of the engines of ckpt.torch."""
    torch._dynamo.reset()
    if engine == "inductor":
        options = {"custom_partitioner_fn": partitioner, **ckpt.torch.INDUCTOR_OPTIONS}
        return torch.compile(module, options=options, dynamic=False)
    backend = _private.require("aot_autograd")(fw_compiler=_private.require("boxed_nop"), partition_fn=partitioner)
    return torch.compile(module, backend=backend, dynamic=False)


def peak_of(run: Any, module: Any, arguments: Any) -> int:
    """Bytes of a forward and a backward pass, after a run that compiles."""
    run(*arguments).backward()
    module.zero_grad(set_to_none=True)
    return ckpt.torch.measure(lambda: run(*arguments).backward()).peak_bytes


def min_cut_row(module: Any, arguments: Any, engine: str, share: float) -> Row:
    """Peak in bytes and FLOPs of PyTorch's own partitioner."""
    partitioner = Counted(min_cut(share))
    return peak_of(compiled(module, engine, partitioner), module, arguments), partitioner.flops


def planned_row(module: Any, arguments: Any, engine: str, budget: int | None, effort: float) -> Row:
    """Peak in bytes and FLOPs of a plan."""
    partitioner = Counted(ckpt.torch.Partitioner(budget, engine=engine, effort=effort))
    return peak_of(compiled(module, engine, partitioner), module, arguments), partitioner.flops


def planned_rows(module: Any, arguments: Any, engine: str, budget: int, effort: float) -> Iterator[Row]:
    """Peak in bytes and FLOPs of a plan; where inductor takes more than planned, of further plans with less.

    Raises:
        BackendCompilerFailed: around a `BudgetError`, where no plan meets the budget.
    """
    ask = budget
    for _ in range(MOST_ROUNDS):
        peak, flops = planned_row(module, arguments, engine, ask, effort)
        yield peak, flops
        if peak <= budget:
            return
        ask -= max(peak - budget, budget // 100)


def lowest_at(flops: int, plans: list[Row]) -> int | None:
    """The lowest peak of a plan that runs no more than `flops` FLOPs."""
    return min((peak for peak, work in plans if work <= flops), default=None)


def shown(name: str, row: Row, least: int) -> str:
    return f"{name:>14} {row[0] / 2**20:>9.2f} MiB {100 * (row[1] / least - 1):>7.2f} % extra FLOPs"


def compared(options: argparse.Namespace) -> tuple[list[Row], list[Row]]:
    """The rows of PyTorch's own partitioner and those of plans; prints each."""
    module, arguments = make(options.model)
    theirs: list[Row] = []
    plans = [planned_row(module, arguments, options.engine, None, options.effort)]
    print(shown("no budget", plans[0], plans[0][1]), flush=True)
    for share in map(float, options.shares.split(",")):
        theirs.append(min_cut_row(module, arguments, options.engine, share))
        least = min(flops for _, flops in theirs)
        print(shown(f"{share:g} min-cut", theirs[-1], least), flush=True)
        try:
            for row in planned_rows(module, arguments, options.engine, theirs[-1][0], options.effort):
                plans.append(row)
                print(shown("ckpt", row, least), flush=True)
        except Exception as error:
            inner = _private.inner_error(error)
            if not isinstance(inner, ckpt.BudgetError):
                raise
            print(f"{'ckpt':>14} none: {str(inner).splitlines()[0]}", flush=True)
    return theirs, plans


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", default="llama", choices=STEPS)
    parser.add_argument("--engine", default="eager", choices=("eager", "inductor"))
    parser.add_argument("--effort", type=float, default=5)
    parser.add_argument("--shares", default=SHARES)
    options = parser.parse_args()
    print(f"{options.model} in {options.engine}, PyTorch {torch.__version__}")
    theirs, plans = compared(options)
    print("at equal FLOPs:")
    for peak, flops in theirs:
        ours = lowest_at(flops, plans)
        plan = "no plan" if ours is None else f"plan {ours / 2**20:.2f} MiB"
        print(f"  min-cut {peak / 2**20:.2f} MiB, {plan}")


if __name__ == "__main__":
    main()
