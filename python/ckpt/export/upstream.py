"""Loops and elementwise operations in upstream dialects, made with the Python bindings of whichever package.

IREE's bindings (JAX) and torch-mlir's (PyTorch) are separate sets of the same classes: `Upstream` holds one set.
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any


@dataclass(frozen=True)
class Upstream:
    """The modules of one package's bindings, and the operations that both exporters make with them."""

    ir: ModuleType
    arith: ModuleType
    linalg: ModuleType
    scf: ModuleType
    tensor: ModuleType

    def index(self, number: int) -> Any:
        return self.arith.ConstantOp(self.ir.IndexType.get(), number).result

    def elementwise(self, value: Any, target: Any, compute: Callable) -> Any:
        """compute(value[i], target[i]) for all i, as one linalg.generic."""
        ir, linalg, rank = self.ir, self.linalg, target.type.rank
        identity = ir.AffineMapAttr.get(ir.AffineMap.get_identity(rank))
        parallel = ir.Attribute.parse("#linalg.iterator_type<parallel>")
        generic = linalg.GenericOp(
            [target.type], [value], [target], ir.ArrayAttr.get([identity, identity]), ir.ArrayAttr.get([parallel] * rank)
        )
        elements = value.type.element_type, target.type.element_type
        body = generic.regions[0].blocks.append(*elements, arg_locs=[ir.Location.current] * 2)
        with ir.InsertionPoint(body):
            linalg.YieldOp([compute(*body.arguments)])
        return generic.results[0]

    def slice_at(self, offsets: list, sizes: list[int]) -> tuple[list, dict]:
        """Offsets, sizes and strides of a slice, as the slice ops take them."""
        ir = self.ir
        dynamic = [offset for offset in offsets if isinstance(offset, ir.Value)]
        static = [ir.ShapedType.get_dynamic_size() if isinstance(offset, ir.Value) else offset for offset in offsets]
        attributes = {"static_offsets": static, "static_sizes": sizes, "static_strides": [1] * len(sizes)}
        return [dynamic, [], []], attributes

    def places_of_row(self, indices: Any, row: Any, scattered: list[int], limits: list[int]) -> tuple[list, Any]:
        """Where the update of a row goes, clamped to the target, and whether it lies inside of it."""
        ir, arith = self.ir, self.arith
        place, inside = [0] * len(limits), arith.ConstantOp(ir.IntegerType.get_signless(1), 1).result
        for i, dimension in enumerate(scattered):
            index = self.tensor.ExtractOp(indices, [row, self.index(i)])
            index = arith.IndexCastOp(ir.IndexType.get(), index).result
            # Unsigned, a negative index is beyond the largest.
            limit = self.index(limits[dimension])
            inside = arith.AndIOp(inside, arith.CmpIOp(arith.CmpIPredicate.ule, index, limit).result).result
            place[dimension] = arith.MinSIOp(arith.MaxSIOp(index, self.index(0)).result, limit).result
        return place, inside

    def update_loop(self, target: Any, indices: Any, scattered: list[int], updates: Any, combine: Callable) -> Any:
        """`target` after the updates of a scatter, one after the other.

        Row i of `updates` [rows, window ...] is combined with the window of `target` that begins at row i of `indices`
        [rows, dimensions], along the dimensions `scattered`. `combine(update, old)` makes one element of two. The window
        has all dimensions of the target. An update that is not inside of the target is dropped.
        """
        ir, scf, tensor, rank = self.ir, self.scf, self.tensor, target.type.rank
        rows, *window = updates.type.shape
        limits = [size - extent for size, extent in zip(target.type.shape, window)]
        loop = scf.ForOp(self.index(0), self.index(rows), self.index(1), [target])
        with ir.InsertionPoint(loop.body):
            row, result = loop.induction_variable, loop.inner_iter_args[0]
            place, inside = self.places_of_row(indices, row, scattered, limits)
            kept = lambda new, old: self.arith.SelectOp(inside, combine(new, old), old).result
            if set(window) <= {1}:
                at = [offset if isinstance(offset, ir.Value) else self.index(0) for offset in place]
                old = tensor.ExtractOp(result, at).result
                update = tensor.ExtractOp(updates, [row] + [self.index(0)] * rank).result
                result = tensor.InsertOp(kept(update, old), result, at).result
            else:
                type = ir.RankedTensorType.get(window, target.type.element_type)
                operands, attributes = self.slice_at([row] + [0] * rank, [1] + window)
                update = tensor.ExtractSliceOp(type, updates, *operands, **attributes).result
                operands, attributes = self.slice_at(place, window)
                old = tensor.ExtractSliceOp(type, result, *operands, **attributes).result
                result = tensor.InsertSliceOp(self.elementwise(update, old, kept), result, *operands, **attributes).result
            scf.YieldOp([result])
        return loop.results[0]
