"""From a PyTorch function to one graph of ATen operations, each with the module that it stems from."""

import bisect
import contextlib
import functools
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import torch
import torch.fx.traceback as fx_traceback
import torch.utils._pytree as pytree
from torch._dispatch.python import enable_python_dispatcher
from torch.distributions import Distribution
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.modules import transformer
from torch.nn.modules.module import (
    register_module_forward_hook,
    register_module_forward_pre_hook,
)
from torch.optim.optimizer import register_optimizer_step_pre_hook
from torch.overrides import TorchFunctionMode

from ...errors import UnsupportedStep
from . import factorizations
from .customs import inline_bodies
from .narrow import tensors_of
from .numbers import OF_NUMBERS, Symbols, as_tensor, is_number, is_symbol
from .outside import is_outside
from .owners import IMPLEMENTATIONS, Owner, Stage
from .parts import COMPOSED
from .places import TRACE, Interpreter, in_words, trace_of_caller, trace_of_error
from .random import DRAWN, Source

aten = torch.ops.aten
META = "nn_module_stack"


class Origins(TorchFunctionMode):
    """While a step is traced, says of each operation the path of its module and the place in the user's file:
    in the backward pass those of the forward's. Tensors from outside of the trace get others in their places."""

    def __init__(self, stage: Stage):
        super().__init__()
        self.stage = stage
        self.stack: list[str] = []
        self.names: dict[int, str] = {}
        self.path, self.place = "", ""
        # From a number in the order of the forward pass on: path and place.
        self.since: list[tuple[int, str, str]] = []

    def __enter__(self) -> "Origins":
        self.hooks = [register_module_forward_pre_hook(self.enter), register_module_forward_hook(self.leave)]
        self.hooks.append(register_optimizer_step_pre_hook(self.update))
        # No mode sees its operands.
        self.applying = mock.patch.object(torch.autograd.Function, "apply", classmethod(self.applied(vars(torch.autograd.Function)["apply"])))
        self.applying.start()
        replaced: list[tuple[Any, str, Callable[[Callable], Callable]]] = [
            (torch.autograd, "grad", lambda own: functools.partial(self.differentiate, own)),
            (torch.autograd, "backward", lambda own: functools.partial(self.differentiate, own)),
            (torch.nn.Module, "zero_grad", self.noting_gradients),
            (torch.optim.Optimizer, "zero_grad", self.noting_gradients),
        ]
        self.replaced = [(holder, name, getattr(holder, name)) for holder, name, _ in replaced]
        for holder, name, made in replaced:
            setattr(holder, name, made(getattr(holder, name)))
        return super().__enter__()

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        self.applying.stop()
        for holder, name, own in self.replaced:
            setattr(holder, name, own)
        for hook in self.hooks:
            hook.remove()

    def __torch_function__(self, function: Callable, types: Any, arguments: tuple = (), options: dict | None = None) -> Any:
        place = trace_of_caller()
        if place != self.place:
            self.place = place
            self.note()
        return self.stage.outside.called(COMPOSED.get(function, function), arguments, options or {})

    def applied(self, own: Any) -> Callable:
        def apply(function: type[torch.autograd.Function], *arguments: Any, **options: Any) -> Any:
            return self.stage.outside.called(own.__get__(None, function), arguments, options)

        return apply

    def enter(self, module: torch.nn.Module, arguments: Any) -> None:
        if not self.stack:
            self.names = {id(part): name for name, part in module.named_modules()}
        self.stage.meet(module)
        self.stack.append(self.names.get(id(module), ""))
        self.path = self.stack[-1]
        self.note()

    def noting_gradients(self, zero_grad: Callable) -> Callable:
        @functools.wraps(zero_grad)
        def clear(owner: Owner, *arguments: Any, **options: Any) -> None:
            groups = owner.param_groups if isinstance(owner, torch.optim.Optimizer) else [{"params": owner.parameters()}]
            self.stage.outside.clear(parameter for group in groups for parameter in group["params"])
            zero_grad(owner, *arguments, **options)

        return clear

    def update(self, optimizer: torch.optim.Optimizer, *_: Any) -> None:
        """Gives an optimizer the options of a trace before its step."""
        if any(is_outside(parameter) for group in optimizer.param_groups for parameter in group["params"]):
            self.stage.add(type(optimizer).__name__, optimizer)
        self.stage.use(optimizer)
        # Other optimizers check for GPUs where they are told to be capturable.
        names = IMPLEMENTATIONS if optimizer.step.__module__.startswith("torch.optim") else ("foreach", "fused")
        for group in optimizer.param_groups:
            group.update((name, IMPLEMENTATIONS[name]) for name in names if name in group)

    def leave(self, module: torch.nn.Module, arguments: Any, result: Any) -> None:
        self.stack.pop()
        self.path = self.stack[-1] if self.stack else ""
        self.note()

    def note(self) -> None:
        fx_traceback.current_meta.update({META: self.path, TRACE: self.place})
        self.since.append((torch.autograd._get_sequence_nr(), self.path, self.place))

    def of(self, sequence: int) -> tuple[str, str]:
        """Path and place of the operation with a number in the order of the forward pass."""
        number = bisect.bisect_right(self.since, sequence, key=lambda noted: noted[0]) - 1
        return self.since[number][1:] if number >= 0 else ("", "")

    def differentiate(self, differentiate: Callable, outputs: Any, *arguments: Any, **options: Any) -> Any:
        """torch.autograd.grad or backward, where each node of the backward pass says its origin first."""
        nodes = [each.grad_fn for each in (outputs if isinstance(outputs, (list, tuple)) else [outputs])]
        waiting = [node for node in nodes if node is not None]
        seen = set(waiting)
        while waiting:
            node = waiting.pop()
            path, place = self.of(node._sequence_nr())
            origin = {META: f"transpose({path})", TRACE: place}
            node.register_prehook(lambda gradients, origin=origin: fx_traceback.current_meta.update(origin))
            for following, _ in node.next_functions:
                if following is not None and following not in seen:
                    seen.add(following)
                    waiting.append(following)
        result = differentiate(outputs, *arguments, **options)
        fx_traceback.current_meta[META] = ""
        return result


@contextlib.contextmanager
def in_parts() -> Iterator[None]:
    """Operations that PyTorch has one kernel for become their parts, which the planner fuses itself; checks
    of numbers, which stop a step, are left out."""
    checks, is_causal = Distribution._validate_args, transformer._detect_is_causal_mask
    is_compiling = torch.compiler._is_compiling_flag
    # Optimizers and libraries ask it before they read the numbers of a tensor.
    torch.compiler._is_compiling_flag = True
    Distribution.set_default_validate_args(False)
    # It reads the mask's numbers to choose a kernel; with the mask itself the results are the same.
    transformer._detect_is_causal_mask = lambda mask, is_causal=None, size=None: bool(is_causal)
    try:
        with contextlib.ExitStack() as stack:
            stack.enter_context(sdpa_kernel(SDPBackend.MATH))
            stack.enter_context(torch.compiler.set_stance("force_eager"))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                # It warns of Intel's GPUs, which have no part in a trace.
                stack.enter_context(torch.backends.mkldnn.flags(enabled=False))
            stack.enter_context(enable_python_dispatcher())
            # Counts of steps that an optimizer makes are doubles (Stage.counting).
            for module in [module for name, module in sys.modules.items() if name.startswith("torch.optim.")]:
                if hasattr(module, "_get_scalar_dtype"):
                    stack.enter_context(mock.patch.object(module, "_get_scalar_dtype", lambda is_fused=None: torch.float64))
            yield
    finally:
        torch.compiler._is_compiling_flag = is_compiling
        Distribution.set_default_validate_args(checks)
        transformer._detect_is_causal_mask = is_causal


def written_by(node: torch.fx.Node) -> list[Any]:
    """The operands that an operation changes in place."""
    if node.target == aten.native_batch_norm.default:
        # Its schema does not say so.
        _, _, _, mean, variance, training, *_ = node.args
        return [mean, variance] if training else []
    schema = getattr(node.target, "_schema", None)
    if schema is None or not schema.is_mutable:
        return []
    given = {**dict(zip((each.name for each in schema.arguments), node.args)), **node.kwargs}
    return pytree.tree_leaves([given.get(each.name) for each in schema.arguments if each.alias_info is not None and each.alias_info.is_write])


def viewed(value: Any) -> Any:
    """The value whose memory a value is in; torch.tensor makes a new one of a tensor that the step closes over."""
    while isinstance(value, torch.fx.Node) and value.op == "call_function" and value.target != aten.lift_fresh.default:
        schema = getattr(value.target, "_schema", None)
        if schema is None or not value.args or not any(each.alias_info is not None for each in schema.returns):
            return value
        value = value.args[0]
    return value


def keep_changed(graph: torch.fx.GraphModule, shown: int, dropped: set[int]) -> list[int]:
    """Removes results behind the first ones, `shown`, that are copies of arguments or have a number in `dropped`; the
    numbers of the others behind those."""
    written = {viewed(value) for node in graph.graph.nodes for value in written_by(node)}
    (results,) = graph.graph.output_node().args

    def is_changed(result: Any) -> bool:
        memory = viewed(result)
        return memory in written or memory.target != aten.clone.default or viewed(memory.args[0]).op != "placeholder"

    changed = [i for i, result in enumerate(results[shown:]) if i not in dropped and is_changed(result)]
    graph.graph.output_node().args = ([*results[:shown], *(results[shown + i] for i in changed)],)
    graph.recompile()
    return changed


def take_outside(graph: torch.fx.GraphModule, own: list[torch.Tensor], given: int) -> None:
    """Makes arguments, behind the `given` ones, of constants that are tensors from outside; `own` holds all of both."""
    *_, last = graph.graph.find_nodes(op="placeholder") if given else [None]
    constants: dict[int, list[torch.fx.Node]] = defaultdict(list)
    for node in graph.graph.find_nodes(op="get_attr"):
        constants[id(getattr(graph, node.target))].append(node)
    for number, tensor in enumerate(own[given:]):
        with graph.graph.inserting_after(last) if last else graph.graph.inserting_before(next(iter(graph.graph.nodes))):
            last = graph.graph.placeholder(f"outside_{number}")
        for node in constants[id(tensor)]:
            last.meta.update(node.meta)
            node.replace_all_uses_with(last)
            graph.graph.erase_node(node)


def drop_unread(graph: torch.fx.GraphModule, kept: set[int]) -> list[int]:
    """Removes operations that no result depends on, also those that change values in place, and then arguments that
    nothing reads and that are not in `kept`; the numbers of those that stay."""
    values, memories = set(), set()
    for node in reversed(graph.graph.nodes):
        if node.op == "placeholder":
            continue
        writes = [viewed(value) for value in written_by(node)]
        # Numbers of later draws depend on earlier ones.
        is_drawn = torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())
        if node.op == "output" or is_drawn or node in values or any(memory in memories for memory in writes):
            values.update(node.all_input_nodes)
            memories.update(map(viewed, node.all_input_nodes))
        else:
            graph.graph.erase_node(node)
    stay = []
    for number, node in enumerate(graph.graph.find_nodes(op="placeholder")):
        if number in kept or node.users:
            stay.append(number)
        else:
            graph.graph.erase_node(node)
    graph.recompile()
    return stay


def trace(step: Callable, leaves: list[torch.Tensor], stage: Stage) -> torch.fx.GraphModule:
    """The step as one graph: forward pass, backward pass and update."""
    try:
        with fx_traceback.preserve_node_meta(), warnings.catch_warnings(), Origins(stage), in_parts(), stage.symbols.deciding(), stage.symbols.in_math():
            # A module of torch.compile runs as written.
            warnings.filterwarnings("ignore", message="Using `torch.compile")
            graph = make_fx(step, tracing_mode="fake", _allow_non_fake_inputs=True)(*leaves)
        with in_parts():
            inline_bodies(graph)
    except UnsupportedStep:
        raise
    except Exception as error:
        first = (str(error).strip().splitlines() or [""])[0]
        place = in_words({TRACE: trace_of_error(error)})
        if type(error).__name__ in ("DataDependentOutputException", "GuardOnDataDependentSymNode"):
            advice = "use torch.where in place of a branch, item() in place of float(), and (x == y).all() in place of torch.equal"
            raise UnsupportedStep(f"Python code takes a number out of a tensor{place}, which is unknown before the step runs: {advice}") from error
        raise UnsupportedStep(f"PyTorch cannot trace the step{place}: {type(error).__name__}: {first}") from error
    for node in graph.graph.nodes:
        if isinstance(node.target, torch._ops.HigherOrderOperator):
            advice = "write Python loops of known length, and torch.where of both branches"
            raise UnsupportedStep(f"control flow of PyTorch{in_words(node.meta)}, such as torch.cond or while_loop, is not supported: {advice}")
        if getattr(node.target, "overloadpacket", None) in (aten.resize_, aten.set_):
            raise UnsupportedStep(f"{node.target}{in_words(node.meta)} gives a tensor other memory, which is not supported: make a new tensor")
        if any(isinstance(size, torch.SymInt) for value in tensors_of(node) for size in value.shape):
            advice = "torch.where of all elements has a size of its own"
            raise UnsupportedStep(f"the size of the result of {node.target}{in_words(node.meta)} depends on numbers, which is not supported: {advice}")
    # Optimizers say to the profiler where they begin and end.
    for node in reversed(graph.graph.nodes):
        if getattr(node.target, "namespace", "") == "profiler":
            graph.graph.erase_node(node)
    factorizations.adapt(graph)
    graph.recompile()
    return graph


class Draws(Interpreter):
    """Runs a graph with random numbers that are functions of a seed."""

    def __init__(self, graph: torch.fx.GraphModule, seed: torch.Tensor | None, symbols: Symbols):
        super().__init__(graph)
        self.symbols = symbols
        self.seeded = None if seed is None else Source(seed)

    @property
    def source(self) -> Source:
        if self.seeded is None:
            raise UnsupportedStep("expected an argument of the step that is called seed, such as torch.tensor(0), as it draws random numbers")
        seed = self.seeded.seed
        if seed.numel() != 1 or seed.is_floating_point():
            raise UnsupportedStep(f"expected the argument seed to be one integer, such as torch.tensor(0), but got {seed.dtype}{list(seed.shape)}")
        return self.seeded

    def run_node(self, node: torch.fx.Node) -> Any:
        result = super().run_node(node)
        if is_symbol(result) and is_symbol(node.meta.get("val")):
            self.symbols.note(result, node.meta["val"])
        return result

    def call_function(self, target: Any, arguments: tuple, options: dict) -> Any:
        if target == aten.native_dropout.default:
            x, dropped, training = arguments
            is_kept = torch.ones_like(x, dtype=torch.bool) if training is False else self.source.kept(x.shape, 1 - dropped)
            return torch.where(is_kept, x / (1 - dropped), torch.zeros_like(x)), is_kept
        if target == aten.native_batch_norm.default:
            return self.normalized(*arguments)
        if target in OF_NUMBERS and any(map(is_symbol, arguments)) and all(map(is_number, arguments)):
            return OF_NUMBERS[target](*map(as_tensor, arguments)).item()
        if target in DRAWN:
            return DRAWN[target](self.source, *arguments, **options)
        if torch.Tag.nondeterministic_seeded in getattr(target, "tags", ()):
            place = in_words(fx_traceback.current_meta)
            raise UnsupportedStep(f"{target}{place} draws random numbers of a distribution that is not supported")
        return super().call_function(target, arguments, options)

    def normalized(self, x, weight, bias, mean, variance, training, momentum, epsilon) -> Any:
        """Batch normalization, whose schema does not say that it changes the running statistics."""
        functional = aten._native_batch_norm_legit_functional.default
        if mean is None:
            return aten._native_batch_norm_legit.no_stats(x, weight, bias, training, momentum, epsilon)
        *results, mean_now, variance_now = functional(x, weight, bias, mean, variance, training, momentum, epsilon)
        if training:
            mean.copy_(mean_now)
            variance.copy_(variance_now)
        return tuple(results)
