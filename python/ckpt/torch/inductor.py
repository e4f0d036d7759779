"""Options of inductor, with which its kernels take the memory that the plan gives them."""

from __future__ import annotations

from typing import Any

import torch._inductor.config
import torch._inductor.custom_graph_pass as passes
from torch._inductor.virtualized import V


def _bytes_of(buffer: Any) -> int:
    """Bytes of a result of a kernel; 0 where it is no tensor."""
    size = buffer.node.maybe_get_size() if hasattr(buffer.node, "maybe_get_size") else None
    return 0 if size is None else int(buffer.node.get_numel()) * buffer.node.get_dtype().itemsize


class FunctionsWithoutDeadBuffers(getattr(passes, "CustomSchedulerPass", object)):  # type: ignore[misc]
    """Ends a function of C++ where it holds dead buffers.

    For the CPU, inductor writes the loops of consecutive kernels into one function. It allocates all buffers of
    the function before the call, and frees none until the end.
    """

    # A function may hold dead buffers of this part of the bytes that all kernels of the graph write.
    PART = 64

    def __call__(self, nodes: list[Any]) -> list[Any]:
        sizes = {buffer.get_name(): _bytes_of(buffer) for node in nodes for buffer in node.get_outputs()}
        most = sum(sizes.values()) // self.PART
        for device in {device for node in nodes if (device := node.get_device()) is not None and device.type == "cpu"}:
            self._watch(nodes[0].scheduler, device, sizes, most)
        return nodes

    @staticmethod
    def _watch(scheduler: Any, device: torch.device, sizes: dict[str, int], most: int) -> None:
        backend = scheduler.get_backend(device)
        usual = backend.ready_to_flush

        def ready() -> bool:
            dead = scheduler.buffer_names_to_free - V.graph.removed_buffers
            return usual() or sum(sizes.get(name, 0) for name in dead) > most

        backend.ready_to_flush = ready

    def uuid(self) -> str:
        return f"ckpt {type(self).__name__} {self.PART}"


# Inductor keeps a dead buffer until a later one of its size takes it over. Without that, PyTorch's
# allocator has the bytes at the last read, as the plan counts them. Its optimization of layouts
# copies the weights of convolutions and keeps the copies until the backward pass. It would write values
# that the plan makes inside of kernels from more than four others, once for each kernel.
INDUCTOR_OPTIONS = {"allow_buffer_reuse": False, "layout_optimization": False, "realize_reads_threshold": 64}
# Newer versions of PyTorch can do without fusions that take more memory at the peak: inductor would hold
# the results of readers that the plan runs one after the other.
_NEWER = {
    "fusion_memory_timeline_peak_memory_pct_threshold": 0.0,
    "_post_fusion_custom_pass": FunctionsWithoutDeadBuffers() if hasattr(passes, "CustomSchedulerPass") else None,
}
INDUCTOR_OPTIONS |= {
    name: value for name, value in _NEWER.items() if value is not None and hasattr(torch._inductor.config, name)
}
