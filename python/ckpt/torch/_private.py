"""PyTorch's undocumented names that the door needs, in one place.

Each release may move them: `require` refuses a PyTorch that lacks one, before
anything is planned, and names the missing helper.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
import sys
import types
from typing import Any

import torch

from ..errors import UnsupportedStep

_OLDEST = "2.9"
_NAMES = {
    "CustomPartitionerFn": "torch._inductor.custom_graph_pass",
    "SavedForBackwardsAOTOutput": "torch._functorch._aot_autograd.descriptors",
    "InputMutationAOTOutput": "torch._functorch._aot_autograd.descriptors",
    "fx_graph_cse": "torch._functorch.compile_utils",
    "aot_autograd": "torch._dynamo.backends.common",
    "min_cut_rematerialization_partition": "torch._functorch.partitioners",
    "boxed_nop": "torch._dynamo.backends.debugging",
    "BackendCompilerFailed": "torch._dynamo.exc",
    "TorchRuntimeError": "torch._dynamo.exc",
    "Unsupported": "torch._dynamo.exc",
    "_disable_current_modes": "torch.utils._python_dispatch",
    "compile_fx": "torch._inductor.compile_fx",
    "compile_fx_inner": "torch._inductor.compile_fx",
    "GraphLowering": "torch._inductor.graph",
    "fallbacks": "torch._inductor.lowering",
    "lowerings": "torch._inductor.lowering",
    "CatchErrorsWrapper": "torch._dynamo.convert_frame",
    "SubmodCompiler": "torch._dynamo.backends.distributed",
    "InstructionTranslator": "torch._dynamo.symbolic_convert",
    "TORCH_DYNAMO_RESUME_IN_PREFIX": "torch._dynamo.resume_execution",
}

# Metadata of a node: inductor's patterns match no nodes of different regions.
REGION = "mutation_region_id"
# Inductor writes the result of the node where it stands in the graph, in the strides of the graph.
# By default, it delays an elementwise op to the first reader that needs memory.
WRITTEN = "inductor_realize_to_strides"


def require(name: str) -> Any:
    """Returns PyTorch's private helper `name`.

    Raises:
        UnsupportedStep: this version of PyTorch has no such helper.
    """
    try:
        return getattr(importlib.import_module(_NAMES[name]), name)
    except (ImportError, AttributeError):
        raise UnsupportedStep(
            f"expected PyTorch {_OLDEST} or newer with {_NAMES[name]}.{name}, but got {torch.__version__}"
        ) from None


def require_all() -> None:
    """Raises `UnsupportedStep` unless this PyTorch has every helper."""
    for name in _NAMES:
        require(name)


def saved_descriptions(nodes: list[torch.fx.Node]) -> list[Any]:
    """What AOTAutograd's forward graph says of its saved tensors, in order."""
    plain = require("SavedForBackwardsAOTOutput")
    module = importlib.import_module(_NAMES["SavedForBackwardsAOTOutput"])
    unchecked = getattr(module, "SavedForBackwardsNoVcCheckAOTOutput", plain)
    return [(unchecked if is_unchecked(node) else plain)(number) for number, node in enumerate(nodes)]


def is_unchecked(node: torch.fx.Node) -> bool:
    """AOTAutograd saves the tensor without a check of its version: such tensors come last."""
    return bool(node.meta.get("saved_tensor_with_no_vc_check", False))


def is_checkpointed(node: torch.fx.Node) -> bool:
    """The user marked the op by `torch.utils.checkpoint`."""
    return "recompute" in node.meta


def is_tangent(node: torch.fx.Node) -> bool:
    """True for a gradient that the backward graph receives."""
    return node.op == "placeholder" and "tangents" in str(node.target)


def is_mutation(description: Any) -> bool:
    """True for the new value of an input that the model changes in place."""
    return isinstance(description, require("InputMutationAOTOutput"))


def inner_error(error: BaseException) -> BaseException | None:
    """The exception inside Dynamo's wrapper; `None` for other exceptions."""
    return getattr(error, "inner_exception", None) if isinstance(error, require("BackendCompilerFailed")) else None


def untraceable(error: BaseException) -> str | None:
    """Why Dynamo cannot trace the module, in its own sentence; `None` for other exceptions."""
    if not isinstance(error, (require("TorchRuntimeError"), require("Unsupported"))):
        return None
    text = str(error)
    found = re.search(r"Explanation: (.*)", text)
    return found.group(1) if found else text.partition("\n")[0]


def is_inductor_fallback(target: Any) -> bool:
    """True for an op that inductor leaves to PyTorch's kernel."""
    return target in require("fallbacks") or target not in require("lowerings")


@dataclasses.dataclass(frozen=True)
class Piece:
    """The code of the user that Dynamo compiles now.

    Attributes:
        code: a piece after a graph break has code of its own.
        bucket: the part of the code's graph that waits for one bucket of DistributedDataParallel.
        follows: code that Dynamo did not compile calls the piece, such as code with a graph break,
            or another bucket comes before it.
        breaks: a graph break or another bucket ends the piece.
    """

    code: types.CodeType | None = None
    bucket: str = ""
    follows: bool = False
    breaks: bool = False

    @property
    def key(self) -> tuple[types.CodeType | None, str]:
        """Differs between the pieces of a module, and not between the times that one is compiled."""
        return self.code, self.bucket

    @property
    def is_part(self) -> bool:
        """The graph of the piece is not that of the whole module."""
        return self.follows or self.breaks


def _running(code: types.CodeType) -> types.FrameType | None:
    """The innermost frame that runs `code`."""
    frame: types.FrameType | None = sys._getframe()
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    return frame


def _is_called_by_user() -> bool:
    """Code of the user stands between `torch.compile` and the code that Dynamo compiles."""
    compiler, package = inspect.getfile(importlib.import_module("torch._dynamo.eval_frame")), torch.__path__[0]
    frame = _running(require("CatchErrorsWrapper").__call__.__code__)
    while frame is not None and (path := frame.f_code.co_filename) != compiler:
        if not path.startswith(package):
            return True
        frame = frame.f_back
    return False


def _bucket() -> torch.fx.Node | None:
    """The call of the part that Dynamo compiles for one bucket of DistributedDataParallel."""
    frame = _running(require("SubmodCompiler").run_node.__code__)
    return None if frame is None else frame.f_locals["n"]


def piece() -> Piece:
    """What Dynamo compiles now; a whole module where Dynamo does not run."""
    try:
        running = require("InstructionTranslator").current_tx()
    except AttributeError:
        return Piece()
    code, reason = running.f_code, running.output.compile_subgraph_reason
    follows = code.co_name.startswith(require("TORCH_DYNAMO_RESUME_IN_PREFIX")) or _is_called_by_user()
    breaks = reason is not None and reason.graph_break
    if (call := _bucket()) is None:
        return Piece(code, "", follows, breaks)
    calls = list(call.graph.find_nodes(op="call_module"))
    return Piece(code, str(call.target), follows or call is not calls[0], breaks or call is not calls[-1])


def memory_changes(profile: Any) -> list[tuple[int, int]]:
    """Times in nanoseconds and bytes of the allocations (frees: below zero) of a CPU profile."""
    events = profile.profiler.kineto_results.events()
    changes = [(event.start_ns(), event.nbytes()) for event in events if event.name() == "[memory]"]
    return sorted(changes, key=lambda change: change[0])


def takes_derivatives(graph: torch.fx.Graph) -> bool:
    """True where torch.func takes derivatives inside of a graph of Dynamo."""
    begins = ("_grad_increment_nesting", "_jvp_increment_nesting")
    return any(getattr(node.target, "__name__", "") in begins for node in graph.nodes)


def is_transformed() -> bool:
    """True inside of a transformation of torch.func, where Dynamo compiles nothing."""
    return torch._C._functorch.peek_interpreter_stack() is not None


def is_profiling() -> bool:
    """True while a profiler of the user runs: there cannot be a second one."""
    return bool(torch.autograd._profiler_enabled())


def without_modes() -> Any:
    """A context in which ops run on real tensors, inside of a compilation too."""
    return require("_disable_current_modes")()
