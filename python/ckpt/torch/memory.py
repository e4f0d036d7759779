"""Bytes that a step of PyTorch holds: of graphs by their live ranges, and measured."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import fx

from . import _private
from .program import is_view, nbytes_of, scratch_of, tensors_of


class _Storages:
    """The storages that each node of one graph refers to."""

    def __init__(
        self,
        graph: fx.Graph,
        given: Mapping[fx.Node, list[Any]],
        inside: Callable[[fx.Node], bool] | None = None,
    ) -> None:
        self.of: dict[fx.Node, list[Any]] = {}
        self.sizes: dict[Any, int] = {}
        for node in graph.nodes:
            if node in given:
                self.of[node] = given[node]
            elif node.op != "call_function":
                self.of[node] = []
            elif node.target is operator.getitem:
                self.of[node] = self._piece(node)
            elif is_view(node) or node.target is torch.ops.aten.copy_.default:
                self.of[node] = self.of[node.all_input_nodes[0]]
            elif inside is not None and inside(node):
                self.of[node] = []
            else:
                self.of[node] = [(node, index) for index, _ in tensors_of(node)]
                self.sizes.update(((node, i), nbytes_of(node, i, tensor)) for i, tensor in tensors_of(node))

    def _piece(self, node: fx.Node) -> list[Any]:
        whole = self.of[node.args[0]]
        if is_view(node.args[0]):
            return whole
        return [storage for storage in whole if storage[1] == node.args[1]]


def _sweep(graph: fx.Graph, storages: _Storages, alive: dict[Any, int], held: set[Any]) -> int:
    """The most bytes alive at once; a storage dies after its last reader."""
    last: dict[Any, fx.Node] = {}
    for node in graph.nodes:
        for reader in (node, *node.all_input_nodes):
            last.update((storage, node) for storage in storages.of[reader])
    dying: dict[fx.Node, list[Any]] = {}
    for storage, node in last.items():
        dying.setdefault(node, []).append(storage)
    now = most = sum(alive.values())
    for node in graph.nodes:
        for storage in storages.of[node]:
            if storage not in alive and node.op == "call_function":
                alive[storage] = storages.sizes[storage]
                now += alive[storage]
        most = max(most, now + scratch_of(node))
        for storage in dying.get(node, ()):
            if storage not in held and node.op != "placeholder":
                now -= alive.pop(storage, 0)
    return most


def scratch_of_graph(graph: fx.Graph) -> int:
    """The peak of a graph that an op calls, run op by op, without operands and results."""
    storages = _Storages(graph, {})
    outputs = {storage for node in graph.output_node().all_input_nodes for storage in storages.of[node]}
    return _sweep(graph, storages, {}, set()) - sum(storages.sizes[storage] for storage in outputs)


def held_by(
    forward: fx.GraphModule,
    backward: fx.GraphModule,
    kept: int,
    skipped: int,
    gradients_count: bool,
    inside: Callable[[fx.Node], bool] | None = None,
) -> int:
    """The peak of both graphs run one op after the other.

    Args:
        forward: returns `skipped` new values of inputs, then outputs up to
            number `kept`, which the caller holds, then saved tensors.
        backward: receives the saved tensors and the gradients of outputs.
        gradients_count: the results of the backward graph take bytes.
        inside: of a node whose results take none; by default, all take bytes.
    """
    first = _Storages(forward.graph, {}, inside)
    outputs = list(forward.graph.output_node().args[0])
    most = _sweep(forward.graph, first, {}, set())
    held = {storage for node in outputs[skipped:kept] if node is not None for storage in first.of[node]}
    alive: dict[Any, int] = {storage: first.sizes[storage] for storage in held}
    given: dict[fx.Node, list[Any]] = {}
    placeholders = backward.graph.find_nodes(op="placeholder")
    saved = outputs[kept:]
    for node, source in zip(placeholders, saved):
        given[node] = first.of[source]
        alive.update((storage, first.sizes[storage]) for storage in given[node])
    for node in placeholders[len(saved) :]:
        given[node] = [(node, 0)]
        alive[node, 0] = nbytes_of(node, 0, node.meta["val"])
    second = _Storages(backward.graph, given, inside)
    if not gradients_count:
        gradients = [node for node in backward.graph.output_node().args[0] if node is not None]
        second.sizes.update((storage, 0) for node in gradients for storage in second.of[node])
    return max(most, _sweep(backward.graph, second, alive, held))


def saved_by(forward: fx.GraphModule, kept: int) -> int:
    """Bytes of the saved tensors that are no arguments of the step."""
    storages = _Storages(forward.graph, {})
    saved = forward.graph.output_node().args[0][kept:]
    return sum(storages.sizes[storage] for storage in {s for node in saved for s in storages.of[node]})


@dataclasses.dataclass
class Measured:
    """Bytes above the level at the start of a run."""

    peak_bytes: int
    left_bytes: int


def measure(run: Callable[[], Any]) -> Measured:
    """Runs `run` once and returns the bytes that PyTorch's allocator gave out.

    On the CPU, the allocator reports each allocation to `torch.profiler`. On a
    GPU, `torch.cuda.max_memory_allocated` counts them.
    """
    if torch.cuda.is_available() and torch.cuda.memory_allocated():
        start = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        run()
        return Measured(torch.cuda.max_memory_allocated() - start, torch.cuda.memory_allocated() - start)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
        run()
    now = most = 0
    for _, nbytes in _private.memory_changes(profile):
        now += nbytes
        most = max(most, now)
    return Measured(most, now)
