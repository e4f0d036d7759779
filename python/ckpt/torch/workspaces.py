"""Memory of PyTorch's CPU kernels, measured: each distinct op runs once.

Products, convolutions and losses allocate more than their results while they
run, and a mean of squares keeps the memory of all squares. The planner counts
these bytes at the op, so that the measured peak of a step is the planned one.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import fx
from torch.utils import _pytree as pytree

from . import _private
from .memory import scratch_of_graph
from .program import MEMORY, Memory, is_view, nbytes_of, tensors_of


def _signature(node: fx.Node) -> Any:
    """Equal for ops that run the same kernel on equal shapes, types and strides."""

    def described(operand: fx.Node) -> Any:
        tensor = operand.meta["val"]
        return tuple(tensor.shape), tuple(tensor.stride()), str(tensor.dtype)

    arguments = pytree.tree_map_only(fx.Node, described, (node.args, node.kwargs))
    return str(node.target), str(arguments)


def _is_measurable(node: fx.Node) -> bool:
    tensors = [operand.meta.get("val") for operand in node.all_input_nodes]
    schema = getattr(node.target, "_schema", None)
    return (
        not is_view(node)
        and schema is not None
        and not schema.is_mutable
        and getattr(node.target, "namespace", "") in ("aten", "prims")
        and all(isinstance(tensor, torch.Tensor) for tensor in tensors)
        and all(tensor.device.type == "cpu" for _, tensor in tensors_of(node))
    )


def _blank(node: fx.Node) -> torch.Tensor:
    tensor = node.meta["val"]
    made = torch.empty_strided(tuple(tensor.shape), tensor.stride(), dtype=tensor.dtype, device=tensor.device)
    # Integers are indices; zero is one wherever any is.
    return made.fill_(1 if tensor.dtype.is_floating_point else 0)


def _kept(results: Any, operands: list[Any]) -> tuple[int, ...]:
    """Bytes of the memory behind each result that has a memory of its own, and 0 for the others."""
    several = results if isinstance(results, (tuple, list)) else [results]
    dense = [x if isinstance(x, torch.Tensor) and x.layout == torch.strided else None for x in several]
    memories = [None if x is None else x.untyped_storage() for x in dense]
    places = [x.untyped_storage().data_ptr() for x in [*dense, *operands] if isinstance(x, torch.Tensor)]
    return tuple(0 if m is None or places.count(m.data_ptr()) > 1 else m.nbytes() for m in memories)


def _run(node: fx.Node) -> tuple[int, int, tuple[int, ...]]:
    """Runs an op on ones; returns the times before it and after it, and the bytes that its results keep."""
    args, kwargs = pytree.tree_map_only(fx.Node, _blank, (node.args, node.kwargs))
    start = time.time_ns()
    results = node.target(*args, **kwargs)
    end = time.time_ns()
    return start, end, _kept(results, pytree.tree_leaves((args, kwargs)))


def nested_of(node: fx.Node) -> Iterator[fx.Graph]:
    """The graphs that a higher-order op calls."""
    for operand in node.all_input_nodes:
        called = getattr(node.graph.owning_module, operand.target, None) if operand.op == "get_attr" else None
        if isinstance(called, fx.GraphModule):
            yield called.graph


def _with_nested(nodes: Iterable[fx.Node]) -> Iterator[fx.Node]:
    """The nodes, and before each the nodes of the graphs that it calls."""
    for node in nodes:
        for graph in nested_of(node):
            yield from _with_nested([each for each in graph.nodes if each.op == "call_function"])
        yield node


class Workspaces:
    """Memory of PyTorch's kernels that ran once."""

    def __init__(self) -> None:
        self._known: dict[Any, Memory] = {}

    def note(self, nodes: Iterable[fx.Node]) -> None:
        """Notes at each node, which PyTorch's kernel runs, the memory that the kernel takes.

        An op that fails on arguments of ones counts its results alone.
        """
        nodes = list(_with_nested(nodes))
        groups: dict[Any, list[fx.Node]] = {}
        for node in filter(_is_measurable, nodes):
            groups.setdefault(_signature(node), []).append(node)
        if fresh := {key: group[0] for key, group in groups.items() if key not in self._known}:
            self._known.update(_measured(fresh))
        for key, group in groups.items():
            for node in group:
                node.meta[MEMORY] = self._known.get(key, Memory())
        for node in nodes:
            if scratch := max(map(scratch_of_graph, nested_of(node)), default=0):
                node.meta[MEMORY] = Memory(scratch)


def _measured(nodes: dict[Any, fx.Node]) -> dict[Any, Memory]:
    """The memory of each op that runs on ones."""
    if _private.is_profiling():
        warnings.warn(
            "a profiler runs, so scratch memory of kernels is not measured: call the step before", stacklevel=2
        )
        return {}
    runs: dict[Any, tuple[int, int, tuple[int, ...]]] = {}
    with _private.without_modes(), torch.no_grad(), torch.random.fork_rng():
        profile = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True)
        with profile:
            for key, node in nodes.items():
                try:
                    runs[key] = _run(node)
                except (RuntimeError, IndexError, ValueError):
                    continue
    changes = _private.memory_changes(profile)
    found: dict[Any, Memory] = {}
    place = 0
    for key, (start, end, kept) in runs.items():
        while place < len(changes) and changes[place][0] < start:
            place += 1
        now = most = 0
        while place < len(changes) and changes[place][0] <= end:
            now += changes[place][1]
            most = max(most, now)
            place += 1
        nodes[key].meta[MEMORY] = Memory(kept=kept)
        results = sum(nbytes_of(nodes[key], index, tensor) for index, tensor in tensors_of(nodes[key]))
        found[key] = Memory(max(0, most - results), kept)
    return found
