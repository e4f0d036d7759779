"""Arrays of NumPy, JAX, PyTorch and DLPack as memory that a compiled step reads and writes in place."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from .errors import ArrayError, OtherCall

# Names of elements in frameworks, by the element in MLIR; signs of integers do not matter there.
_NAMES = {
    "f64": ("float64",),
    "f32": ("float32",),
    "f16": ("float16",),
    "bf16": ("bfloat16",),
    "f8E4M3FN": ("float8_e4m3fn",),
    "f8E5M2": ("float8_e5m2",),
    "i1": ("bool",),
    "i2": ("int2", "uint2"),
    "i4": ("int4", "uint4"),
    "i8": ("int8", "uint8"),
    "i16": ("int16", "uint16"),
    "i32": ("int32", "uint32"),
    "i64": ("int64", "uint64"),
    "index": ("int64",),
}


class Tensor(Protocol):
    """An argument or a result of a compiled step."""

    label: str
    element: str
    shape: list[int]
    nbytes: int


def _names_of(element: str) -> tuple[str, ...]:
    signless = element.replace("ui", "i").replace("si", "i")
    return _NAMES.get(signless, ())


def numpy_type(element: str) -> np.dtype:
    """The NumPy type of results; types that NumPy lacks are those of `ml_dtypes`, or bits without it."""
    names = _names_of(element)
    if not names:
        raise ArrayError(f"expected elements that an array of NumPy holds, but the step has some of type {element}")
    name = names[-1 if element.startswith("ui") else 0]
    try:
        return np.dtype(name)
    except TypeError:
        pass
    try:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, name))
    except ImportError:
        return np.dtype(np.uint16 if name == "bfloat16" else np.uint8)


def _is(array: Any, module: str, name: str) -> bool:
    """Whether `array` is an instance of a class in a module that may not be imported."""
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(array, getattr(loaded, name))


def _plain_of_torch(array: Any, title: str) -> tuple[str, Any]:
    if not array.is_contiguous():
        raise ArrayError(f"expected {title} to be contiguous, but got strides {tuple(array.stride())}: call contiguous()")
    name = str(array.dtype).removeprefix("torch.")
    bits = sys.modules["torch"]
    plain = array.detach()
    if name == "bfloat16":
        plain = plain.view(bits.int16)
    elif name.startswith("float8"):
        plain = plain.view(bits.uint8)
    return name, plain


def _of_torch(array: Any, title: str) -> tuple[np.ndarray, str]:
    if array.device.type != "cpu":
        raise ArrayError(f"expected {title} on the CPU, but got a tensor on {array.device}")
    name, plain = _plain_of_torch(array, title)
    return plain.numpy(), name


def _plain_of_jax(array: Any, title: str) -> tuple[str, Any]:
    jax = sys.modules["jax"]
    if isinstance(array, jax.core.Tracer):
        raise ArrayError(f"expected {title} to be an array, but got a tracer: a compiled step runs outside of jit")
    if jax.dtypes.issubdtype(array.dtype, jax.dtypes.prng_key):
        array = jax.random.key_data(array)
    return str(array.dtype), array


def plain_of(array: Any, title: str) -> tuple[str, Any, bool]:
    """An array with the name of its elements, if its framework is known, and whether it may be written to; elements that DLPack cannot name
    are their bits."""
    if _is(array, "torch", "Tensor"):
        return *_plain_of_torch(array, title), True
    if _is(array, "jax", "Array"):
        return *_plain_of_jax(array, title), False
    return "", array, True


def _of_jax(array: Any, title: str) -> tuple[np.ndarray, str]:
    _, array = _plain_of_jax(array, title)
    devices = sorted(map(str, array.devices()))
    if len(devices) != 1 or {device.platform for device in array.devices()} != {"cpu"}:
        raise ArrayError(f"expected {title} on one CPU device, but got an array on {', '.join(devices)}")
    return np.asarray(array), str(array.dtype)


def _of_others(array: Any, title: str) -> tuple[np.ndarray, str]:
    if isinstance(array, np.ndarray):
        return array, str(array.dtype)
    if not hasattr(array, "__dlpack__"):
        raise OtherCall(
            f"expected {title} to be an array of NumPy, JAX or PyTorch, or one with __dlpack__, "
            f"but got {type(array).__name__}"
        )
    try:
        view = np.from_dlpack(array)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise ArrayError(f"expected {title} on the CPU, but NumPy cannot read it: {error}") from None
    return view, str(view.dtype)


def memory_of(array: Any, tensor: Tensor, title: str, *, writable: bool = False) -> np.ndarray:
    """Returns the memory of `array` as NumPy sees it, without a copy.

    Raises:
        OtherCall: another type or shape than `tensor` has.
        ArrayError: on another device, or in a layout that no step takes.
    """
    if isinstance(array, (bool, int, float, np.generic)) and not tensor.shape and not writable:
        array = _of_number(array, tensor, title)
    if _is(array, "torch", "Tensor"):
        view, name = _of_torch(array, title)
    elif _is(array, "jax", "Array"):
        if writable:
            raise ArrayError(f"expected {title} to be writable, but an array of JAX never is")
        view, name = _of_jax(array, title)
    else:
        view, name = _of_others(array, title)
    check_kind(name, view.dtype, view.shape, tensor, title)
    if not view.flags.c_contiguous:
        raise ArrayError(f"expected {title} in C order, but got strides {view.strides}: copy it with numpy.ascontiguousarray")
    if not view.flags.aligned:
        raise ArrayError(f"expected {title} to be aligned to its elements")
    if writable and not view.flags.writeable:
        raise ArrayError(f"expected {title} to be writable, but it is read-only")
    return view


def check_kind(name: str, dtype: np.dtype | None, shape: Sequence[int], tensor: Tensor, title: str) -> None:
    """Refuses another type or shape than `tensor` has: frameworks call the type `name`, NumPy `dtype`."""
    names = _names_of(tensor.element)
    if name not in names and dtype != numpy_type(tensor.element):
        raise OtherCall(f"expected {title} of type {' or '.join(names)}, but got {name}")
    if list(shape) != list(tensor.shape):
        raise OtherCall(f"expected {title} of shape {tuple(tensor.shape)}, but got {tuple(shape)}")


def _of_number(number: Any, tensor: Tensor, title: str) -> np.ndarray:
    """A number as an array of the step's type, where that type holds numbers of its kind; a number never changes."""
    dtype = numpy_type(tensor.element)
    if _kind_of(np.asarray(number).dtype) <= _kind_of(dtype):
        with contextlib.suppress(OverflowError):
            array = np.asarray(number, dtype)
            array.flags.writeable = False
            return array
    raise OtherCall(f"expected {title} of type {' or '.join(_names_of(tensor.element))}, but got {number!r}")


def _kind_of(dtype: np.dtype) -> int:
    """Booleans, integers, floats, which narrow ones are too, and complex numbers."""
    return 0 if dtype.kind == "b" else 1 if dtype.kind in "iu" else 3 if dtype.kind == "c" else 2


def bits_of(view: np.ndarray) -> np.ndarray:
    """The same memory as plain integers, which every protocol knows."""
    return view.view(f"u{view.dtype.itemsize}")


def extent_of(view: Any) -> tuple[int, int]:
    """Address and bytes of an array of NumPy or of a `GpuArray`."""
    return (view.__array_interface__["data"][0] if isinstance(view, np.ndarray) else view.address), view.nbytes


class Host:
    """The memory of a step on the CPU; `gpu.Gpu` is that of one on the GPU."""

    take = staticmethod(memory_of)

    def make(self, tensors: Sequence[Tensor], arguments: Sequence[np.ndarray]) -> list[tuple[np.ndarray, np.ndarray]]:
        """New arrays for results, each as the caller sees it and as the step does."""
        made = map(self.like, tensors)
        return [(array, array) for array in made]

    def like(self, tensor: Tensor) -> np.ndarray:
        """A new array."""
        return np.empty(tensor.shape, numpy_type(tensor.element))

    def finish(self, changed: Sequence[np.ndarray]) -> None:
        """The caller's arrays are those of the step."""


def is_writable(view: Any) -> bool:
    return view.flags.writeable if isinstance(view, np.ndarray) else view.is_writable


def assign(to: Any, view: Any) -> None:
    """Copies the elements of `view`, an array of the kind of `to`."""
    if isinstance(to, np.ndarray):
        to[...] = view
    else:
        to.assign(view)


def overlap(arguments: Sequence[Any], results: Sequence[Any]) -> int | None:
    """The first of `results` that shares memory with an argument or with another result."""

    def ranges(views: Sequence[Any], first: int) -> list[tuple[int, int, int]]:
        extents = map(extent_of, views)
        return [(start, start + size, i + first) for i, (start, size) in enumerate(extents) if size]

    # Results are numbered from 0, and all arguments count as -1: those may share memory.
    marked = [(s, e, -1) for s, e, _ in ranges(arguments, 0)] + ranges(results, 0)
    end_of_arguments = end_of_results = 0
    last_result = -1
    found = []
    for start, end, number in sorted(marked):
        if number < 0:
            if start < end_of_results:
                found.append(last_result)
            end_of_arguments = max(end_of_arguments, end)
            continue
        if start < max(end_of_arguments, end_of_results):
            found.append(number)
        if end > end_of_results:
            end_of_results, last_result = end, number
    return min(found, default=None)
