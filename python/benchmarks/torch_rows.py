"""PyTorch's min-cut partitioner beside plans: peaks that PyTorch's allocator reports, and extra FLOPs.

usage: torch_rows.py [llama|gpt|convolutions] [--engine eager|inductor] [--effort SECONDS]

For each `activation_memory_budget`, the first line is PyTorch's own partitioner and the second line a
plan whose budget is the peak that PyTorch took. Effort counts work, so that plans do not depend on the load
of the machine. docs/PyTorch.md names the way in which peaks are measured.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import torch
from torch._functorch import config
from torch._functorch.partitioners import min_cut_rematerialization_partition

import ckpt.torch
from ckpt.torch import _private
from ckpt.torch.kernels import flops_of

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from torch_models import make  # noqa: E402

SHARES = (1.0, 0.8, 0.6, 0.4, 0.2, 0.1, 0.05)


class Counted(_private.require("CustomPartitionerFn")):  # type: ignore[misc]
    """A partitioner; `flops` is the work of both of its graphs, by PyTorch's formulas."""

    def __init__(self, partition: Any, name: str) -> None:
        self.partition, self.name, self.flops = partition, name, 0

    def __call__(self, module: Any, inputs: Any, **options: Any) -> Any:
        graphs = self.partition(module, inputs, **options)
        nodes = [node for graph in graphs for node in graph.graph.nodes if node.op == "call_function"]
        self.flops = sum(map(flops_of, nodes))
        return graphs

    def uuid(self) -> str:
        return self.name


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
        return torch.compile(module, options={"custom_partitioner_fn": partitioner}, dynamic=False)
    backend = _private.require("aot_autograd")(fw_compiler=_private.require("boxed_nop"), partition_fn=partitioner)
    return torch.compile(module, backend=backend, dynamic=False)


def peak_of(run: Any, module: Any, arguments: Any) -> int:
    """Bytes of a forward and a backward pass, after a run that compiles."""
    run(*arguments).backward()
    module.zero_grad(set_to_none=True)
    return ckpt.torch.measure(lambda: run(*arguments).backward()).peak_bytes


def min_cut_row(module: Any, arguments: Any, engine: str, share: float) -> tuple[int, int]:
    """Peak in bytes and FLOPs of PyTorch's own partitioner."""
    partitioner = Counted(min_cut(share), f"min-cut {share}")
    return peak_of(compiled(module, engine, partitioner), module, arguments), partitioner.flops


def planned_row(module: Any, arguments: Any, engine: str, budget: int, effort: float) -> tuple[int, int]:
    """Peak in bytes and FLOPs of a plan; where inductor takes more than planned, of a second plan with less."""
    ask = budget
    for _ in range(2):
        planner = ckpt.torch.Partitioner(ask, engine=engine, effort=effort)
        partitioner = Counted(planner, planner.uuid())
        peak = peak_of(compiled(module, engine, partitioner), module, arguments)
        if peak <= budget:
            break
        ask -= peak - budget
    return peak, partitioner.flops


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", default="llama", choices=("llama", "gpt", "convolutions"))
    parser.add_argument("--engine", default="eager", choices=("eager", "inductor"))
    parser.add_argument("--effort", type=float, default=5)
    options = parser.parse_args()
    module, arguments = make(options.model)
    print(f"{options.model} in {options.engine}, PyTorch {torch.__version__}")
    least = None
    for share in SHARES:
        peak, flops = min_cut_row(module, arguments, options.engine, share)
        least = flops if least is None else min(least, flops)
        print(f"  {share:>5} min-cut {peak / 2**20:>9.2f} MiB {100 * (flops / least - 1):>7.2f} % extra FLOPs", flush=True)
        try:
            planned, work = planned_row(module, arguments, options.engine, peak, options.effort)
        except Exception as error:
            inner = _private.inner_error(error)
            if not isinstance(inner, ckpt.BudgetError):
                raise
            print(f"        ckpt    none: {str(inner).splitlines()[0]}", flush=True)
            continue
        extra = 100 * (work / least - 1)
        print(f"        ckpt    {planned / 2**20:>9.2f} MiB {extra:>7.2f} % extra FLOPs", flush=True)


if __name__ == "__main__":
    main()
