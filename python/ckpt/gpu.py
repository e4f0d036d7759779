"""Arrays in memory of the GPU, for steps that `ckpt.compile` compiles for it (engine.py).

A step reads and writes arrays of frameworks on the GPU in place, by DLPack. Arrays on the host are copied to the GPU
for a run, and changed ones back.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import arrays
from .arrays import Tensor
from .errors import ArrayError

# DLDeviceType and DLDataTypeCode of DLPack.
_CUDA, _MANAGED = 2, 13
_CODES = {"i": 0, "u": 1, "f": 2, "bfloat": 4, "b": 6}
_NAMES = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 6: "bool"}

# As the driver aligns allocations, in bytes.
_ALIGNMENT = 256


def is_on_gpu(array: Any) -> bool:
    """Whether DLPack finds an array on a GPU of CUDA."""
    if isinstance(array, np.ndarray) or not hasattr(array, "__dlpack_device__"):
        return False
    with contextlib.suppress(BufferError, RuntimeError, TypeError, ValueError):
        return int(array.__dlpack_device__()[0]) in (_CUDA, _MANAGED)
    return False


class GpuArray:
    """An array in C order in memory of the GPU, as steps there return it.

    `numpy.asarray` copies it to the host; frameworks take it as it is, such as by `torch.from_dlpack`.

    Attributes:
        shape: lengths of the dimensions.
        dtype: that of NumPy; types that NumPy lacks are those of `ml_dtypes`, or bits without it.
        nbytes: its size.
        address: of the first element, on the device.
        is_writable: whether a step may write to it.
        host: an array of NumPy that the array stands for, or `None`.
    """

    def __init__(
        self, engine: Any, owner: Any, address: int, tensor: Tensor, *, is_writable: bool = True, host: np.ndarray | None = None
    ) -> None:
        self._engine, self._owner = engine, owner
        self.address, self.is_writable, self.host = address, is_writable, host
        self.shape = tuple(tensor.shape)
        self.dtype = arrays.numpy_type(tensor.element)
        self._is_bfloat = tensor.element == "bf16"
        self.nbytes: int = tensor.nbytes

    def __repr__(self) -> str:
        return f"GpuArray(shape={self.shape}, dtype={self.dtype})"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """A copy on the host."""
        if copy is False:
            raise ValueError("an array on the GPU has to be copied to the host")
        made = np.empty(self.shape, self.dtype)
        self.read(made)
        return made if dtype is None else made.astype(dtype)

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CUDA, 0

    def __dlpack__(self, **options: Any) -> Any:
        """A capsule for another framework. Work on the array has ended: a step returns when it is done."""
        # Types that DLPack cannot name are their bits.
        kind = "bfloat" if self._is_bfloat else self.dtype.kind if self.dtype.kind in _CODES else "u"
        return self._engine.gpu_array(self.address, list(self.shape), _CODES[kind], 8 * self.dtype.itemsize, self._owner)

    def read(self, to: np.ndarray) -> None:
        """Copies the elements to the host."""
        self._engine.copy_from_gpu(*arrays.extent_of(to)[:1], self.address, self.nbytes)

    def write(self, host: np.ndarray) -> None:
        """Copies elements of the host to it."""
        self._engine.copy_to_gpu(self.address, *arrays.extent_of(host))

    def assign(self, other: GpuArray) -> None:
        """Copies the elements of another array of its kind."""
        self._engine.copy_on_gpu(self.address, other.address, self.nbytes)


class Gpu:
    """The memory of a step on the GPU; `arrays.Host` is that of one on the CPU."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def take(self, array: Any, tensor: Tensor, title: str, *, writable: bool = False) -> GpuArray:
        """The memory of `array`, or that of a copy where `array` is on the host.

        Raises:
            ArrayError: another device, type, shape or layout than `tensor` has.
        """
        if isinstance(array, GpuArray):
            name = "bfloat16" if array._is_bfloat else str(array.dtype)
            arrays.check_kind(name, array.dtype, array.shape, tensor, title)
            return array
        if is_on_gpu(array):
            return self._in_place(array, tensor, title, writable)
        host = arrays.memory_of(array, tensor, title, writable=writable)
        (copy,) = self._allocate([tensor])
        copy.write(host)
        copy.host, copy.is_writable = host, host.flags.writeable
        return copy

    def _in_place(self, array: Any, tensor: Tensor, title: str, writable: bool) -> GpuArray:
        name, plain, is_writable = arrays.plain_of(array, title)
        if writable and not is_writable:
            raise ArrayError(f"expected {title} to be writable, but an array of JAX never is")
        try:
            _, number, address, shape, strides, code, bits = self._engine.describe_array(plain.__dlpack__())
        except (BufferError, RuntimeError, TypeError, ValueError) as error:
            raise ArrayError(f"expected {title} to be an array with __dlpack__, but it says: {error}") from None
        if number != 0:
            raise ArrayError(f"expected {title} on the first GPU, but got an array on number {number}")
        element = _NAMES.get(code, "")
        arrays.check_kind(name or element + str(bits) * (element != "bool"), None, shape, tensor, title)
        if not _is_contiguous(shape, strides):
            raise ArrayError(f"expected {title} in C order, but got strides {tuple(strides)} of elements: make it contiguous")
        return GpuArray(self._engine, plain, address, tensor, is_writable=is_writable)

    def make(self, tensors: Sequence[Tensor], arguments: Sequence[GpuArray]) -> list[tuple[Any, GpuArray]]:
        """New arrays for results, each as the caller sees it and as the step does: the caller's are on the host where all arguments are."""
        made = self._allocate(tensors)
        if any(argument.host is None for argument in arguments):
            return [(one, one) for one in made]
        for one in made:
            one.host = np.empty(one.shape, one.dtype)
        return [(one.host, one) for one in made]

    def finish(self, changed: Sequence[GpuArray]) -> None:
        """Copies arrays that a run has changed to the host, where they stand for arrays there."""
        for array in {id(array): array for array in changed}.values():
            if array.host is not None:
                array.read(array.host)

    def like(self, tensor: Tensor) -> GpuArray:
        """A new array."""
        return self._allocate([tensor])[0]

    def _allocate(self, tensors: Sequence[Tensor]) -> list[GpuArray]:
        """Arrays in one allocation."""
        places = [0]
        for tensor in tensors:
            places.append(places[-1] + -(-tensor.nbytes // _ALIGNMENT) * _ALIGNMENT)
        memory = self._engine.GpuMemory(places[-1])
        return [GpuArray(self._engine, memory, memory.address + place, tensor) for place, tensor in zip(places, tensors)]


def _is_contiguous(shape: Sequence[int], strides: Sequence[int]) -> bool:
    expected = 1
    for length, stride in zip(reversed(shape), reversed(strides)):
        if length > 1 and stride != expected:
            return 0 in shape
        expected *= length
    return True
