"""The rates of a device by which a step is planned; the doors add how their engine forms kernels."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class KernelModel:
    """How a device runs a step.

    Attributes:
        bandwidth: bytes per microsecond that kernels read and write.
        launch_ns: nanoseconds that each kernel costs.
        product_rate: FLOPs per microsecond of products and convolutions.
        element_rate: FLOPs per microsecond of all other ops.
    """

    bandwidth: int = 10_000
    launch_ns: int = 1_000
    product_rate: int = 198_000
    element_rate: int = 19_800
