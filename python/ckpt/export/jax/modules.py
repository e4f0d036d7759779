"""Steps of JAX on modules of Flax NNX, whose variables are arguments and results of the file."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from ...errors import OtherCall
from ...modules import PureStep
from . import JaxStep


class ModulesStep:
    """A step on modules, as `ckpt.export.trace` returns it."""

    kept: dict[int, int] = {}
    own = 0
    is_of_torch = False

    def __init__(self, step: Callable[..., Any], example: tuple[Any, ...]):
        self.pure = PureStep(step, (example, {}))
        self.traced = JaxStep(self.pure.run, tuple(self.pure.arrays))

    def export(self) -> str:
        return self.traced.export()

    def release(self) -> None:
        self.traced.release()
        self.pure.arrays = []

    def inputs(self) -> list[np.ndarray]:
        return self.traced.inputs()

    def expected(self) -> list[np.ndarray]:
        return self.traced.expected()

    def bind(self, arguments: tuple[Any, ...]) -> tuple[list[Any], Callable[[list[Any]], Any]]:
        given = PureStep(self.pure.function, (arguments, {}))
        if given.graph != self.pure.graph:
            raise OtherCall("expected modules as in the example, but got others")
        arrays, returned = self.traced.bind(tuple(given.arrays))

        def finish(results: list[Any]) -> Any:
            return self.pure.finish((arguments, {}), list(map(jax.numpy.asarray, returned(results))))

        return arrays, finish
