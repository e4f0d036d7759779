"""From a graph of ATen operations to linalg on tensors, by torch-mlir."""

import contextlib
import functools
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.fx.traceback as fx_traceback
from torch._decomp import core_aten_decompositions, get_decompositions
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.func import functionalize
from torch.fx.experimental.proxy_tensor import make_fx
from torch_mlir import fx
from torch_mlir.extras import fx_importer
from torch_mlir.ir import ArrayAttr, DictAttr, IntegerAttr, IntegerType, Location

from ...errors import UnsupportedStep
from ..text import NO_FORM, pack_booleans
from .complex import Paired, holds_complex, parts_of
from .decompositions import OWN
from .empty import fill_empty
from .narrow import Widened, holds_narrow
from .places import place_of
from .refusals import refused_operations, value_of
from .scatters import rewrite_scatter
from .tracing import META

aten = torch.ops.aten
NUMPY_FLOATS = (torch.float16, torch.float32, torch.float64)
# What torch-mlir has no form for, beside what PyTorch calls its core.
DECOMPOSED = [
    aten._log_softmax,
    aten._log_softmax_backward_data,
    aten._native_batch_norm_legit,
    aten._native_batch_norm_legit_functional,
    aten._native_batch_norm_legit_no_training,
    aten._softmax,
    aten._softmax_backward_data,
    aten.gelu,
    aten.gelu_backward,
    aten.native_batch_norm_backward,
    aten.native_layer_norm,
    aten.native_layer_norm_backward,
    aten.nll_loss_backward,
    aten.nll_loss_forward,
    aten.tanh_backward,
    aten.threshold_backward,
]


def lower(
    step: Callable,
    leaves: list[torch.Tensor],
    types: list[torch.dtype],
    names: list[str],
    kept: dict[int, int],
    begin: tuple[str, int] | None,
    is_last: bool = True,
) -> str:
    """The text of a module in upstream dialects: `types` are those of the step's results, `names` those of the file's
    arguments, `kept` the arguments that results are written over, and the step begins at a line of a file. An error names
    the operations without a form where it is the last word.
    """
    decompositions = {**core_aten_decompositions(), **get_decompositions(DECOMPOSED), **OWN}
    with fx_traceback.preserve_node_meta(), torch.no_grad():
        pure = functionalize(step, remove="mutations")
        trace = functools.partial(make_fx, tracing_mode="fake", _allow_non_fake_inputs=True)
        graph = trace(pure, decomposition_table=decompositions)(*leaves)
        # Batch normalization leaves bytes that only its kernels on GPUs read.
        graph.graph.eliminate_dead_code()
        if holds_complex(graph):
            leaves = [part for leaf in leaves for part in parts_of(leaf)]
            graph = trace(Paired(graph).run, decomposition_table=decompositions)(*leaves)
        if holds_narrow(graph):
            graph = trace(Widened(graph).run)(*leaves)
    fill_empty(graph)
    widen_constants(graph)
    check_types(graph, types)
    graph.graph.eliminate_dead_code()
    module = imported(graph, is_last)
    name_arguments(module.body.operations[0], names, begin)
    donate_arguments(module.body.operations[0], kept)
    for block in (block for function in module.body.operations for block in function.regions[0].blocks):
        for operation in list(walk(block)):
            # Indices that torch-mlir checks are in bounds in PyTorch, which stops the step otherwise.
            if operation.name == "cf.assert":
                operation.erase()
            elif operation.name == "tm_tensor.scatter":
                rewrite_scatter(operation)
            elif operation.name.startswith("tm_tensor.") and operation.name != "tm_tensor.yield":
                path, *_ = re.findall(r'"([^"]+)"', str(operation.location)) or ["an operation"]
                place = re.search(r'"([^"]+)":(\d+)', str(operation.location))
                shown = f" ({place[1]}:{place[2]})" if place else ""
                raise UnsupportedStep(f"{NO_FORM}\n  {operation.name} of {path}{shown}")
    return pack_booleans(module.operation.get_asm(enable_debug_info=True))


def widen_constants(graph: torch.fx.GraphModule) -> None:
    """Makes constants of types that NumPy lacks conversions of float32, which holds their numbers: torch-mlir reads constants by NumPy."""
    for node in graph.graph.find_nodes(op="get_attr"):
        constant = getattr(graph, node.target)
        if isinstance(constant, torch.Tensor) and constant.is_floating_point() and constant.dtype not in NUMPY_FLOATS:
            value = value_of(node)
            with unset_fake_temporarily():
                node.target += "_wide"
                graph.register_buffer(node.target, constant.detach().to(torch.float32))
            with graph.graph.inserting_after(node):
                narrow = graph.graph.call_function(aten._to_copy.default, (node,), {"dtype": constant.dtype})
            narrow.meta["val"] = value
            node.replace_all_uses_with(narrow, lambda user: user is not narrow)


def check_types(graph: torch.fx.GraphModule, types: list[torch.dtype]) -> None:
    """Refuses a form of ours that gives another type than the operation: the bits of a result would be misread."""
    wanted = [part for dtype in types for part in ([dtype.to_real()] * 2 if dtype.is_complex else [dtype])]
    for i, (result, dtype) in enumerate(zip(graph.graph.output_node().args[0], wanted, strict=True)):
        if result.meta["val"].dtype != dtype:
            raise UnsupportedStep(f"result {i} of the step is of {dtype}, but its form here gives {result.meta['val'].dtype}: please report it")


def imported(graph: torch.fx.GraphModule, is_last: bool) -> Any:
    """The module of a graph in linalg on tensors; refuses operations without a form by their places."""
    lower_graph = lambda part: fx.stateless_fx_import(part, output_type="linalg-on-tensors", model_name="main")

    def lowers(part: torch.fx.GraphModule) -> bool:
        try:
            lower_graph(part)
        except Exception:
            return False
        return True

    with written_errors() as errors:
        try:
            return lower_graph(graph)
        except Exception as error:
            cause = error
            refused = refused_operations(graph, lowers) if is_last else []
    refused = refused or [("\n".join(errors) or str(cause)).strip().splitlines()[0]]
    raise UnsupportedStep("\n  ".join([NO_FORM, *refused])) from cause


def name_arguments(function: Any, names: list[str], begin: tuple[str, int] | None) -> None:
    """Gives the function its place and its arguments their names: torch-mlir has one location for all of them."""
    context = function.context
    if begin:
        function.operation.location = Location.file(*begin, 0, context)
    for argument, name in zip(function.arguments, names, strict=True):
        argument.set_location(Location.name(name, context=context))


def donate_arguments(function: Any, kept: dict[int, int]) -> None:
    """Says by each argument of `kept`, the values, which result is written over it."""
    context = function.context
    given = [DictAttr.get({}, context)] * len(function.arguments)
    for result, argument in kept.items():
        given[argument] = DictAttr.get({"ckpt.donated": IntegerAttr.get(IntegerType.get_signless(64, context), result)}, context)
    function.operation.attributes["arg_attrs"] = ArrayAttr.get(given, context)


@contextlib.contextmanager
def written_errors() -> Iterator[list[str]]:
    """The lines that torch-mlir writes to the error output itself: its exceptions do not hold them."""
    lines: list[str] = []
    with tempfile.TemporaryFile("w+", errors="replace") as file:
        sys.stderr.flush()
        kept = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            yield lines
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            file.seek(0)
            lines += file.read().splitlines()


def walk(block: Any) -> Iterator[Any]:
    """All operations of a block, at any depth."""
    for operation in block.operations:
        for region in operation.regions:
            for inner in region.blocks:
                yield from walk(inner)
        yield operation.operation


def location_of(cache: fx_importer.ContextCache, node: torch.fx.Node) -> Location:
    """The path of an operation as ckpt reads it, and the last place of its trace in a file of the user's."""
    path, context = node.meta.get(META, ""), cache._c
    place = place_of(node.meta)
    file = Location.file(*place, 0, context) if place else None
    backward = re.fullmatch(r"transpose\((.*)\)", path)
    module = (backward[1] if backward else path).replace(".", "/")
    wrapper = "transpose(jvp())" if backward else "jvp()" if module else ""
    name = "/".join(part for part in (wrapper, module, str(node.target).split(".")[1 if "." in str(node.target) else 0]) if part)
    return Location.name(name, file, context)


# torch-mlir takes no locations: it reads them from traces, which hold no modules.
fx_importer.ContextCache.get_node_location = location_of
