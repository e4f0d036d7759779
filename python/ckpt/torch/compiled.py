"""Bytes that inductor's code of a forward graph and a backward graph takes.

Inductor writes the code, and compiles no kernel of it. The code allocates and frees each buffer
by a statement of its own, so that its peak is known before anything runs.
"""

from __future__ import annotations

import ast
import collections
import copy
import dataclasses
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from types import MappingProxyType
from typing import Any
from unittest import mock

import torch
from torch import fx
from torch._inductor import config

from . import _private
from .kernels import is_pytorchs
from .program import nbytes_of, scratch_of, tensors_of
from .workspaces import Workspaces

# The tensors behind a name: one, or the pieces of a tuple.
Storages = dict[int, Hashable]


class _IsWritten(Exception):
    """Inductor wrote the code of a graph."""


def _callee(call: ast.Call) -> str:
    """The last name of the function that is called."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


class _Replay:
    """Runs the statements of inductor's code, with sizes in place of tensors."""

    def __init__(
        self,
        graph: Any,
        given: Mapping[str, Hashable],
        alive: Mapping[Hashable, int],
        held: Set[Hashable],
        free: Set[Hashable] = frozenset(),
    ) -> None:
        """
        Args:
            given: the storages behind arguments, by name; those of others take no bytes.
            alive: the bytes of each storage that stands now.
            held: storages that others hold.
            free: storages that take no bytes.
        """
        self.graph, self.held, self.free = graph, held, free
        self.names: dict[str, Storages] = {name: {0: storage} for name, storage in given.items()}
        # How many names each storage has.
        self.uses = collections.Counter(given.values())
        self.sizes = dict(alive)
        self.now = self.peak = sum(alive.values())
        self.returned: list[Hashable | None] = []

    def _behind(self, value: ast.expr | None) -> Storages:
        """The storages behind an expression that allocates nothing."""
        if isinstance(value, ast.Name):
            return self.names.get(value.id, {})
        if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Constant):
            whole = self._behind(value.value)
            return {0: whole[value.slice.value]} if value.slice.value in whole else {}
        if isinstance(value, ast.Call) and value.args and _callee(value).endswith("reinterpret_tensor"):
            return self._behind(value.args[0])
        return {}

    def _node(self, name: str) -> fx.Node | None:
        """The node of the kernel of PyTorch that writes a buffer."""
        return getattr(self.graph.try_get_buffer(name), "fx_node", None)

    def _made(self, name: str, call: ast.Call) -> Storages:
        """The storages behind the result of a call."""
        if _callee(call).startswith("empty_strided"):
            size, stride = (ast.literal_eval(each) for each in call.args[:2])
            last = sum((extent - 1) * step for extent, step in zip(size, stride))
            nbytes = (last + 1) * getattr(torch, call.args[2].attr).itemsize
            return self._new(name, {0: 0 if 0 in size else nbytes})
        buffer = self.graph.try_get_buffer(name)
        if buffer is None:
            return {}
        if seen := [self.names[each] for each in buffer.get_inputs_that_alias_output() if each in self.names]:
            return seen[0]
        if buffer.has_tensor_output():
            return self._new(name, {0: int(buffer.get_layout().storage_size()) * buffer.get_dtype().itemsize})
        node = self._node(name)
        pieces = [] if node is None else tensors_of(node)
        return self._new(name, {index: nbytes_of(node, index, tensor) for index, tensor in pieces})

    def _new(self, name: str, sizes: dict[int, int]) -> Storages:
        made: Storages = {index: (self, name, index) for index in sizes}
        for index, storage in made.items():
            self.sizes[storage] = 0 if (name, index) in self.free else sizes[index]
            self.now += self.sizes[storage]
        return made

    def _run_kernel(self, call: ast.Call, name: str | None) -> None:
        """Counts the scratch memory of a kernel of PyTorch."""
        out = next((word.value for word in call.keywords if word.arg == "out"), None)
        name = out.id if isinstance(out, ast.Name) else name
        node = None if name is None else self._node(name)
        self.peak = max(self.peak, self.now + (0 if node is None else scratch_of(node)))

    def _forget(self, name: str) -> None:
        for storage in self.names.pop(name, {}).values():
            self.uses[storage] -= 1
            if not self.uses[storage] and storage not in self.held:
                self.now -= self.sizes[storage]

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if not isinstance(target, ast.Name):
            return  # The arguments have their names.
        storages = self._behind(value)
        is_call = not storages and isinstance(value, ast.Call)
        if is_call:
            storages = self._made(target.id, value)
        if storages:
            self.names[target.id] = storages
            self.uses.update(storages.values())
        if is_call:
            self._run_kernel(value, target.id)

    def run(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            if isinstance(statement, ast.Assign):
                self._assign(statement.targets[0], statement.value)
            elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
                self._run_kernel(statement.value, None)
            elif isinstance(statement, ast.Delete):
                for target in statement.targets:
                    self._forget(getattr(target, "id", ""))
            elif isinstance(statement, ast.Return):
                elements = statement.value.elts if isinstance(statement.value, ast.Tuple) else []
                self.returned = [self._behind(element).get(0) for element in elements]
            else:
                self.run(getattr(statement, "body", ()))


@dataclasses.dataclass
class _Code:
    """Inductor's code of a graph: the lowered graph, and the statements; no statements for a graph that calls nothing."""

    module: fx.GraphModule
    graph: Any = None
    statements: Sequence[ast.stmt] = ()

    def replay(
        self,
        given: Sequence[Hashable | None] = (),
        alive: Mapping[Hashable, int] = MappingProxyType({}),
        held: Set[Hashable] = frozenset(),
        free: Set[Hashable] = frozenset(),
    ) -> _Replay:
        """
        Args:
            given: the storage behind each argument; `None` for those whose bytes do not count.
        """
        names = [node.name for node in self.module.graph.find_nodes(op="placeholder")]
        behind = {name: storage for name, storage in zip(names, given) if storage is not None}
        replay = _Replay(self.graph, behind, alive, held, free)
        if self.statements:
            replay.run(self.statements)
        else:
            outputs = self.module.graph.output_node().args[0]
            replay.returned = [behind.get(getattr(output, "name", "")) for output in outputs]
        return replay


def _code_of(
    module: fx.GraphModule,
    workspaces: Workspaces,
    *,
    backward: bool = False,
    visible: Sequence[int] = (),
    donated: Sequence[int] = (),
) -> _Code:
    """Lets inductor write the code of a graph.

    Args:
        visible: outputs that the user sees, by number.
        donated: arguments in whose memory the code may write, by number.
    """
    written: list[tuple[Any, str]] = []

    def write(graph: Any) -> None:
        written.append((graph, graph.codegen()[0].value))
        raise _IsWritten

    graph = copy.deepcopy(module.graph)
    graph.output_node().meta["user_visible_output_idxs"] = list(visible)
    inputs = [node.meta["val"] for node in graph.find_nodes(op="placeholder")]
    fresh = config.patch({"fx_graph_cache": False, "fx_graph_remote_cache": False, "triton.cudagraphs": False})
    lowering = _private.require("GraphLowering")
    gifts = mock.patch(f"{lowering.__module__}.get_donated_idxs", lambda: list(donated))
    with fresh, gifts, mock.patch.object(lowering, "compile_to_module", write):
        try:
            lowered = fx.GraphModule(module, graph)
            _private.require("compile_fx_inner")(lowered, inputs, is_backward=backward)
        except Exception:
            if not written:
                raise
    if not written:
        return _Code(module)
    graph, text = written[0]
    workspaces.note(node for node in graph.graph.nodes if node.op == "call_function" and is_pytorchs(node))
    functions = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef) and node.name == "call")
    return _Code(module, graph, next(functions).body)


def _donated(forward: fx.GraphModule, backward: fx.GraphModule, kept: int) -> list[int]:
    """The saved tensors that nobody sees, by number: AOTAutograd donates their memory to the backward graph."""
    if not torch._functorch.config.donated_buffer:
        return []

    def storages(nodes: Iterable[fx.Node | None]) -> list[int | None]:
        values = [None if node is None else node.meta["val"] for node in nodes]
        dense = [value if isinstance(value, torch.Tensor) and value.layout == torch.strided else None for value in values]
        return [None if value is None else value.untyped_storage()._cdata for value in dense]

    outputs = forward.graph.output_node().args[0]
    seen = [*forward.graph.find_nodes(op="placeholder"), *outputs[:kept], *backward.graph.output_node().args[0]]
    known = {None, *storages(seen)}
    return [number for number, storage in enumerate(storages(outputs[kept:])) if storage not in known]


def compiled_peak(
    forward: fx.GraphModule, backward: fx.GraphModule, kept: int, skipped: int, gradients_count: bool, workspaces: Workspaces
) -> int:
    """The most bytes that inductor's code of both graphs holds.

    The arguments are those of `ckpt.torch.memory.held_by`, and the memory of PyTorch's kernels.
    """
    first = _code_of(forward, workspaces, visible=range(skipped, kept)).replay()
    second = _code_of(backward, workspaces, backward=True, donated=_donated(forward, backward, kept))
    held = {storage for storage in first.returned[skipped:kept] if storage is not None}
    saved = first.returned[kept:]
    tangents = backward.graph.find_nodes(op="placeholder")[len(saved) :]
    alive = {storage: first.sizes[storage] for storage in {*held, *saved} if storage is not None}
    alive |= {node: nbytes_of(node, 0, node.meta["val"]) for node in tangents}
    ran = second.replay([*saved, *tangents], alive, held)
    if not gradients_count:
        gradients = {storage[1:] for storage in ran.returned if isinstance(storage, tuple) and storage[0] is ran}
        ran = second.replay([*saved, *tangents], alive, held, gradients)
    return max(first.peak, ran.peak)
