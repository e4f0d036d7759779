"""Scratch memory of PyTorch's CPU kernels, measured: each distinct op runs once.

Products, convolutions and losses allocate more than their results while they
run. The planner counts these bytes at the op, so that the measured peak of a
step is the planned one.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import torch
from torch import fx
from torch.utils import _pytree as pytree

from . import _private
from .kernels import calls_pytorch
from .program import Op, Program


def _signature(op: Op) -> Any:
    """Equal for ops that run the same kernel on equal shapes, types and strides."""

    def described(node: fx.Node) -> Any:
        tensor = node.meta["val"]
        return tuple(tensor.shape), tuple(tensor.stride()), str(tensor.dtype)

    arguments = pytree.tree_map_only(fx.Node, described, (op.node.args, op.node.kwargs))
    return op.name, str(arguments)


def _is_measurable(op: Op) -> bool:
    nodes = op.node.all_input_nodes
    tensors = [node.meta.get("val") for node in nodes]
    schema = getattr(op.node.target, "_schema", None)
    return (
        not op.is_view
        and schema is not None
        and not schema.is_mutable
        and getattr(op.node.target, "namespace", "") in ("aten", "prims")
        and all(isinstance(tensor, torch.Tensor) for tensor in tensors)
        and all(value.tensor.device.type == "cpu" for value in op.outputs)
    )


def _run(op: Op) -> tuple[int, int]:
    """Runs `op` on ones; returns the times before it and after it."""

    def ones(node: fx.Node) -> torch.Tensor:
        tensor = node.meta["val"]
        made = torch.empty_strided(tuple(tensor.shape), tensor.stride(), dtype=tensor.dtype, device=tensor.device)
        # Integers are indices; zero is one wherever any is.
        return made.fill_(1 if tensor.dtype.is_floating_point else 0)

    args, kwargs = pytree.tree_map_only(fx.Node, ones, (op.node.args, op.node.kwargs))
    start = time.time_ns()
    results = op.node.target(*args, **kwargs)
    end = time.time_ns()
    del results
    return start, end


def workspaces_of(program: Program, engine: str) -> dict[Op, int]:
    """Bytes that each op takes beside its operands and results while `engine` runs it.

    An op that fails on arguments of ones counts none.
    """
    groups: dict[Any, list[Op]] = {}
    for op in program.ops:
        if _is_measurable(op) and calls_pytorch(op, engine):
            groups.setdefault(_signature(op), []).append(op)
    if not groups:
        return {}
    if _private.is_profiling():
        warnings.warn(
            "a profiler runs, so scratch memory of kernels is not measured: call the step before", stacklevel=2
        )
        return {}
    windows: dict[Any, tuple[int, int]] = {}
    with _private.without_modes(), torch.no_grad(), torch.random.fork_rng():
        profile = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True)
        with profile:
            for key, ops in groups.items():
                try:
                    windows[key] = _run(ops[0])
                except (RuntimeError, IndexError, ValueError):
                    continue
    changes = _private.memory_changes(profile)
    found: dict[Op, int] = {}
    place = 0
    for key, (start, end) in windows.items():
        while place < len(changes) and changes[place][0] < start:
            place += 1
        now = most = 0
        while place < len(changes) and changes[place][0] <= end:
            now += changes[place][1]
            most = max(most, now)
            place += 1
        results = sum(value.nbytes for value in groups[key][0].outputs)
        found.update((op, most - results) for op in groups[key] if most > results)
    return found
