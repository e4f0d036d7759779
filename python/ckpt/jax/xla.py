"""Compilation by XLA: the options that keep a plan, and the memory that it takes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax

Options = Mapping[str, Any]

# The CPU backend removes barriers before it merges common subexpressions, and
# its default schedulers leave the planned order. It compiles a loop of few bytes
# as one kernel, which may hold no barrier: such loops stay loops. Its library YNNPACK reduces only
# operands that stand in memory, such as constants that are spread: it is left to
# products and convolutions. The names of options differ by version: the first set
# that the backend accepts is used.
_CPU_BARRIERS = "cse_barrier_expander,small-while-loop-hoisting"
_CPU_ORDER: Options = {
    "xla_disable_hlo_passes": _CPU_BARRIERS,
    "xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED",
}
_CPU_LIBRARY = "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT,LIBRARY_FUSION_TYPE_INDIVIDUAL_CONVOLUTION"
_CPU_OPTIONS: Sequence[Options] = (
    {**_CPU_ORDER, "xla_cpu_experimental_ynn_fusion_type": _CPU_LIBRARY},
    _CPU_ORDER,
    {
        "xla_disable_hlo_passes": _CPU_BARRIERS,
        "xla_cpu_enable_concurrency_optimized_scheduler": False,
    },
)


@functools.cache
def keeping_options(backend: str) -> dict[str, Any] | None:
    """Returns the compile options that keep a plan on `backend`.

    `None`: this version of JAX has no such options. Accelerators need none.
    """
    if backend != "cpu":
        return {}
    for options in _CPU_OPTIONS:
        try:
            jax.jit(lambda x: x + 1, compiler_options=dict(options)).lower(0.0).compile()
        except Exception:  # jaxlib raises its own, undocumented types
            continue
        return dict(options)
    return None


def compile_options(backend: str, exact: bool) -> dict[str, Any]:
    # LLVM otherwise vectorizes loops by the ops beside each other in a kernel, and rounds by that.
    return {**(keeping_options(backend) or {}), **(sizing_options(backend) if exact else {})}


def sizing_options(backend: str) -> dict[str, Any]:
    """Options for an executable of which only the bytes count: LLVM, which runs behind XLA's assignment of buffers,
    optimizes nothing, and takes half of the time."""
    return {"xla_backend_optimization_level": 0} if backend == "cpu" else {}


def compiled(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], **jit: Any) -> Any:
    """Compiles `function` for the shapes and placement of `args`."""
    return jax.jit(function, **jit).lower(*args, **kwargs).compile()


def shardings(executable: Any) -> list[Any]:
    """Of all arguments and results."""
    return jax.tree.leaves((executable.input_shardings, executable.output_shardings))


def devices(executable: Any) -> int:
    """The devices that run `executable` together."""
    return max((len(sharding.device_set) for sharding in shardings(executable)), default=1)


def temp_bytes(executable: Any) -> int:
    """XLA's temporary memory per device: neither arguments nor results."""
    return int(executable.memory_analysis().temp_size_in_bytes)


def alias_bytes(executable: Any) -> int:
    """Bytes of results that lie in the buffers of donated arguments."""
    return int(executable.memory_analysis().alias_size_in_bytes)
