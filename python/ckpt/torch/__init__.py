"""Modules of PyTorch planned into a memory budget, run by the user's own PyTorch.

model = ckpt.torch.plan(model, budget="50%")
model(batch).backward()
print(model.report)
"""

from __future__ import annotations

import functools as _functools
import inspect as _inspect
import types as _types
import warnings as _warnings
from collections.abc import Callable
from typing import Any

import torch as _torch
from torch.utils import _pytree

from ..budget import Budget
from ..errors import CkptError, UnsupportedStep
from ..progress import Progress
from . import _private
from .check import Check, compare
from .inductor import INDUCTOR_OPTIONS
from .kernels import MODELS, KernelModel
from .memory import Measured, measure
from .partition import Partitioner, Report

__all__ = ["INDUCTOR_OPTIONS", "MODELS", "Backend", "Check", "KernelModel", "Measured", "Partitioner", "Planned"]
__all__ += ["Report", "backend", "measure", "plan"]


class Backend:
    """A backend of `torch.compile`; `backend` makes it.

    Attributes:
        reports: one `Report` for each graph that was planned, in order.
    """

    def __init__(self, partitioner: Partitioner) -> None:
        self._partitioner = partitioner

    def __call__(self, module: Any, inputs: Any) -> Callable[..., Any]:
        planned = len(self.reports)
        compiled = self._compiled(module, inputs)
        if len(self.reports) == planned and _private.takes_derivatives(module.graph):
            self._partitioner.warn_once(
                "derivatives",
                "torch.func takes gradients in a graph whose results have none, so the graph has no backward pass and runs "
                "unplanned: return the loss, and call backward()",
            )
        return compiled

    def _compiled(self, module: Any, inputs: Any) -> Callable[..., Any]:
        if self._partitioner.options.engine == "eager":
            compiled = _private.require("aot_autograd")(
                fw_compiler=_private.require("boxed_nop"), partition_fn=self._partitioner
            )
            return compiled(module, inputs)
        patches = {"custom_partitioner_fn": self._partitioner, **INDUCTOR_OPTIONS}
        with _torch._functorch.config.patch(enable_autograd_cache=False):
            return _private.require("compile_fx")(module, inputs, config_patches=patches)

    @property
    def reports(self) -> list[Report]:
        return self._partitioner.reports

    @property
    def report(self) -> Report:
        """The report of the graph that was planned last."""
        if not self.reports:
            raise CkptError("no graph was planned yet: a model is planned at its first call with gradients")
        return self.reports[-1]


def backend(
    budget: Budget | None = None,
    *,
    engine: str = "inductor",
    device: str | KernelModel | None = None,
    count_arguments: bool = False,
    count_gradients: bool = True,
    time_limit: float | None = None,
    effort: float | None = None,
    progress: Progress | None = None,
) -> Backend:
    """Returns a backend: `torch.compile(model, backend=backend("12GiB"), dynamic=False)`.

    Args:
        budget: the most bytes that the forward and the backward pass may hold:
            bytes, "12GiB", or "50%" of the unplanned step. For the eager engine
            that is autograd's peak, for inductor the arena of the fastest plan.
            `None` orders the step and takes memory that costs nothing to save:
            no product and no convolution runs again, and for eager no op does.
        engine: "inductor" compiles the planned graphs; "eager" runs them op by op.
        device: "cpu", "cuda" or a `KernelModel`; by default that of the arguments.
        count_arguments: parameters, buffers and inputs count in the budget.
        count_gradients: gradients of parameters count in the budget.
        time_limit: seconds of each search for a plan, by default a millisecond
            for each op, between 0.5 and 5 seconds.
        effort: seconds of counted work in place of `time_limit`: the same plan on
            every machine, and so on every rank.
        progress: called with each new line for people while the planner searches;
            by default, a bar shows on a terminal and in a notebook.

    Raises (inside of Dynamo's `BackendCompilerFailed`, at the first call):
        BudgetError: no plan meets the budget.
        UnsupportedStep: the graph cannot be planned, such as one with dynamic shapes.
    """
    return Backend(
        Partitioner(
            budget,
            engine=engine,
            device=device,
            count_arguments=count_arguments,
            count_gradients=count_gradients,
            time_limit=time_limit,
            effort=effort,
            progress=progress,
        )
    )


def _requires_grad(leaf: Any) -> bool:
    return isinstance(leaf, _torch.Tensor) and leaf.requires_grad


# Options of `torch.compile` that a planned module sets, or that name another backend's ways.
_SET_HERE = ("backend", "dynamic", "mode", "options")


def _limits() -> dict[str, Any]:
    """Options of `torch.compile` against Dynamo's limit of eight compilations, beyond which a shape runs unplanned.

    Newer versions of PyTorch have them: each planned module has a limit of its own, as high as may be.
    """
    limits = {"isolate_recompiles": True, "recompile_limit": _torch._dynamo.config.accumulated_recompile_limit}
    known = _inspect.signature(_torch.compile).parameters
    return {name: value for name, value in limits.items() if name in known}


class Planned:
    """A compiled module that raises this package's own errors; `plan` makes it.

    It has the attributes and methods of the module, such as `parameters()` and `train()`. Attributes
    that are set on it are set on the module, but for `forward`: a call runs it, as with a module. It is
    a container where the module is one, and an `nn.Module` that other modules may hold. A planned function
    is a method where a class holds it.

    Attributes:
        module: the user's module, which owns the parameters.
    """

    _OWN = ("module", "_backend", "_compile_options", "_warned", "_compiled")

    def __new__(cls, module: Callable[..., Any], *_: Any) -> Planned:
        return object.__new__(_class_for(type(module)))

    def __init__(self, module: Callable[..., Any], made: Backend, compile_options: dict[str, Any]) -> None:
        self.module = module
        self._backend, self._compile_options = made, compile_options
        self._warned = False
        self._compiled = _torch.compile(module, backend=made, dynamic=False, **{**_limits(), **compile_options})

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._run(args, kwargs)

    def _run(self, args: Any, kwargs: Any) -> Any:
        if _torch.compiler.is_compiling():  # Dynamo writes the module into the graph of its caller, which has a plan of its own.
            return self._compiled(*args, **kwargs)
        try:
            results = self._compiled(*args, **kwargs)
        except Exception as error:
            inner = _private.inner_error(error)
            if isinstance(inner, CkptError):
                raise inner from None
            if why := _private.untraceable(error):
                raise UnsupportedStep(f"PyTorch cannot trace the module: {why}") from error
            raise
        if not self._warned and (why := self._unplanned(results)):
            self._warned = True
            _warnings.warn(why, stacklevel=4)
        return results

    def _unplanned(self, results: Any) -> str | None:
        """Why a call that made `results` ran unplanned; `None` where a plan ran, or without gradients."""
        if _private.is_transformed():
            return (
                "torch.func transforms a planned module, and Dynamo compiles nothing inside of its transformations, so "
                "nothing is planned: plan the function that calls torch.func, and take gradients by backward()"
            )
        if not self.reports and any(map(_requires_grad, _pytree.tree_leaves(results))):
            return (
                "Dynamo compiled no graph with gradients, so nothing is planned: "
                "fullgraph=True or TORCH_LOGS=graph_breaks,recompiles names the reason"
            )
        return None

    def __getattr__(self, name: str) -> Any:
        if name == "module" or name.startswith("__"):
            raise AttributeError(name)  # A copy has no module yet.
        found = getattr(self.module, name)
        if not _inspect.ismethod(found):
            return found

        @_functools.wraps(found)
        def of_module(planned: Planned, *args: Any, **kwargs: Any) -> Any:
            result = found(*args, **kwargs)
            return planned if result is planned.module else result

        return _types.MethodType(of_module, self)

    def __setattr__(self, name: str, value: Any) -> None:
        owner = self if name in self._OWN or hasattr(Planned, name) else self.module
        object.__setattr__(self, name, value) if owner is self else setattr(owner, name, value)

    def __delattr__(self, name: str) -> None:
        object.__delattr__(self, name) if name in vars(self) else delattr(self.module, name)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *dir(self.module)})

    def __repr__(self) -> str:
        return f"Planned({self.module!r})"

    def __reduce__(self) -> Any:
        return Planned, (self.module, self._backend, self._compile_options)

    @property
    def report(self) -> Report:
        """The report of the graph that was planned last."""
        return self._backend.report

    @property
    def reports(self) -> list[Report]:
        return self._backend.reports

    def check(self, *args: Any, **kwargs: Any) -> Check:
        """Runs both passes with the plan and without it, and compares memory and gradients.

        Outputs that are no scalars are summed. Gradients, buffers and the state of
        random numbers are afterwards as before. Inductor draws random numbers of its
        own, so that gradients behind a dropout differ.

        Raises:
            CkptError: the planned callable is no module.
        """
        if not isinstance(self.module, _torch.nn.Module):
            raise CkptError(f"expected a module to check, but got {type(self.module).__name__}")
        return compare(self.module, self, lambda: self.report.allocated_bytes, args, kwargs)


# Python looks these methods up at the type of a container.
_CONTAINER = ("__getitem__", "__setitem__", "__delitem__", "__len__", "__iter__", "__reversed__", "__contains__")


def _of_module(name: str) -> Callable[..., Any]:
    def method(self: Planned, *args: Any) -> Any:
        return getattr(self.module, name)(*args)

    return method


def _forward_of(kind: type) -> Callable[..., Any]:
    """`Planned.forward` with the signature of modules of this `kind`, in which trainers look for the names of arguments."""

    @_functools.wraps(kind.forward)
    def forward(self: Planned, *args: Any, **kwargs: Any) -> Any:
        return self._run(args, kwargs)

    return forward


def _bound(self: Planned, instance: Any, owner: type | None = None) -> Any:
    """The planned function as a method, where a class holds it."""
    is_bound = instance is None or self.module.__get__(instance, owner) is self.module
    return self if is_bound else _types.MethodType(self, instance)


def _looked_up(name: str, planned: Planned) -> Any:
    """The module's own `name`: modules may have methods of their own in the place of those of `nn.Module`."""
    return planned.__getattr__(name)


@_functools.cache
def _class_for(kind: type) -> type[Planned]:
    """`Planned`, with the names that Python and frameworks look up at modules or functions of this `kind`."""
    names: dict[str, Any] = {name: _of_module(name) for name in _CONTAINER if hasattr(kind, name)}
    if issubclass(kind, _torch.nn.Module):
        others = [name for name in dir(_torch.nn.Module) if not name.startswith("__") and not hasattr(Planned, name)]
        names |= {name: property(_functools.partial(_looked_up, name)) for name in others}
        return type("Planned", (Planned, _torch.nn.Module), {**names, "forward": _forward_of(kind)})
    names["__wrapped__"] = property(lambda self: self.module)
    if hasattr(kind, "__get__"):
        names["__get__"] = _bound
    return type("Planned", (Planned,), names)


def plan(
    module: Callable[..., Any] | None = None,
    *,
    budget: Budget | None = None,
    engine: str = "inductor",
    device: str | KernelModel | None = None,
    count_arguments: bool = False,
    count_gradients: bool = True,
    time_limit: float | None = None,
    effort: float | None = None,
    progress: Progress | None = None,
    **compile_options: Any,
) -> Any:
    """Returns `module` compiled with the planned forward and backward pass.

    The module is planned at its first call per shapes. Without a module, `plan`
    returns a decorator. `compile_options` go to `torch.compile`, such as
    `fullgraph`; `backend` documents the other arguments.

    Raises (at the first call per shapes):
        BudgetError: no plan meets the budget.
        UnsupportedStep: the graph cannot be planned.

    Raises at once:
        CkptError: an option is none, or is set by a planned module.
    """
    for name in _SET_HERE:
        if name in compile_options:
            raise CkptError(
                f"expected other options of torch.compile than {name!r}, which a planned module sets: "
                "ckpt.torch.backend and ckpt.torch.Partitioner are for your own torch.compile"
            )
    made = backend(
        budget,
        engine=engine,
        device=device,
        count_arguments=count_arguments,
        count_gradients=count_gradients,
        time_limit=time_limit,
        effort=effort,
        progress=progress,
    )
    if module is None:
        return lambda decorated: Planned(decorated, made, compile_options)
    return Planned(module, made, compile_options)
