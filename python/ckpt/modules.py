"""Steps on modules of Flax NNX as pure functions of arrays, as `flax.nnx.jit` makes them of steps.

A module is a graph of Python objects with variables, and a step changes variables in place. JAX flattens it as it does any container,
and so loses these changes. `ckpt.compile`, `ckpt.jax.jit` and `ckpt.jax.planned` call this file where an argument holds one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any


def hold_modules(values: Any) -> bool:
    """Whether values, at any depth of their containers, are modules, optimizers or variables of Flax NNX."""
    nnx = sys.modules.get("flax.nnx")
    if nnx is None:
        return False
    import jax

    kinds = (nnx.Module, nnx.Optimizer, nnx.Rngs, nnx.Variable)
    return any(isinstance(leaf, kinds) for leaf in jax.tree.leaves(values, is_leaf=lambda value: isinstance(value, kinds)))


class PureStep:
    """A step on modules, for arguments with one graph.

    Attributes:
        graph: the objects of the arguments, and where one is found twice, without arrays.
        arrays: of the arguments.
    """

    def __init__(self, function: Callable[..., Any], given: tuple[tuple, dict[str, Any]]) -> None:
        self.function = function
        self.arrays, self.graph = _flattened(given)
        self._after: Any = None

    def run(self, *arrays: Any) -> list[Any]:
        """The step on arrays of its arguments; returns those of its arguments at the end, and of its results."""
        args, kwargs = given = _unflattened(self.graph, arrays)
        results, self._after = _flattened((given, self.function(*args, **kwargs)))
        return results

    def finish(self, given: tuple[tuple, dict[str, Any]], arrays: list[Any]) -> Any:
        """Writes the variables that `run` returned into those of a call, and returns the results of the step."""
        import flax.nnx as nnx

        changed, results = _unflattened(self._after, arrays)
        nnx.update(given, nnx.state(changed, nnx.Variable))
        return results


class StepOnModules:
    """A planned step for each graph and for each shape of the arguments.

    Attributes:
        latest: the planned step of the last call.
    """

    def __init__(
        self, function: Callable[..., Any], planned: Callable[[Callable[..., Any]], Any], signature: Callable[[Any, Any], Any]
    ) -> None:
        self._function, self._planned, self._signature = function, planned, signature
        self._steps: dict[Any, tuple[PureStep, Any]] = {}
        self.latest: Any = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        pure, arrays = self.prepare(args, kwargs)
        return pure.finish((args, kwargs), self.latest(*arrays))

    def prepare(self, args: tuple, kwargs: dict[str, Any]) -> tuple[PureStep, list[Any]]:
        """Makes the planned step of a call the latest one; returns how it ends, and its arrays."""
        pure = PureStep(self._function, (args, kwargs))
        arrays = pure.arrays
        key = pure.graph, self._signature(arrays, {})
        if key not in self._steps:
            run = lambda *arrays: pure.run(*arrays)
            run.__name__ = getattr(self._function, "__name__", "step")
            self._steps[key] = pure, self._planned(run)
        pure, self.latest = self._steps[key]
        return pure, arrays


def _flattened(values: Any) -> tuple[list[Any], Any]:
    """The arrays of values, and their graph."""
    import flax.nnx as nnx
    import jax

    graph, state = nnx.split(values)
    arrays, tree = jax.tree.flatten(state)
    return arrays, (graph, tree)


def _unflattened(graph: Any, arrays: Sequence[Any]) -> Any:
    import flax.nnx as nnx

    definition, tree = graph
    return nnx.merge(definition, tree.unflatten(arrays))
