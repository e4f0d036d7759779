"""Scatters as torch-mlir writes them, in upstream dialects: a loop over the updates, in the order in which they are listed.

`lowering` calls it on a lowered module. An index out of bounds writes nothing.
"""

from collections.abc import Callable

from torch_mlir import ir
from torch_mlir.dialects import arith, linalg, scf, tensor

from ...errors import UnsupportedStep


def inlined(block: ir.Block, arguments: list[ir.Value]) -> ir.Value:
    """The yielded value of a block of one result, whose operations are copied to the insertion point."""
    values = dict(zip(block.arguments, arguments))
    *body, terminator = block.operations
    for operation in body:
        copy = operation.operation.clone()
        for i, operand in enumerate(copy.operands):
            copy.operands[i] = values.get(operand, operand)
        values.update(zip(operation.results, copy.results))
    return values.get(terminator.operands[0], terminator.operands[0])


def number(value: int) -> ir.Value:
    return arith.ConstantOp(ir.IndexType.get(), value).result


def place_of(indices: ir.Value, row: ir.Value, limits: list[int]) -> tuple[list[ir.Value], ir.Value]:
    """The place that a row of indices names, clamped to the limits, and whether it is within them."""
    place, inside = [], arith.ConstantOp(ir.IntegerType.get_signless(1), 1).result
    for i, limit in enumerate(limits):
        index = arith.IndexCastOp(ir.IndexType.get(), tensor.ExtractOp(indices, [row, number(i)]).result).result
        # Unsigned, a negative index is beyond the largest.
        inside = arith.AndIOp(inside, arith.CmpIOp(arith.CmpIPredicate.ule, index, number(limit)).result).result
        place.append(arith.MinSIOp(arith.MaxSIOp(index, number(0)).result, number(limit)).result)
    return place, inside


def slice_at(offsets: list, sizes: list[int]) -> tuple[list, dict]:
    """Offsets, sizes and strides of a slice, as the slice ops take them."""
    dynamic = [offset for offset in offsets if isinstance(offset, ir.Value)]
    static = [ir.ShapedType.get_dynamic_size() if isinstance(offset, ir.Value) else offset for offset in offsets]
    return [dynamic, [], []], dict(static_offsets=static, static_sizes=sizes, static_strides=[1] * len(sizes))


def elementwise(update: ir.Value, old: ir.Value, combine: Callable) -> ir.Value:
    """A slice whose elements combine those of two slices."""
    shaped = update.type
    maps = [ir.AffineMapAttr.get(ir.AffineMap.get_identity(shaped.rank))] * 3
    parallel = ir.Attribute.parse("#linalg.iterator_type<parallel>")
    empty = tensor.EmptyOp(shaped.shape, shaped.element_type).result
    op = linalg.GenericOp([shaped], [update, old], [empty], ir.ArrayAttr.get(maps), ir.ArrayAttr.get([parallel] * shaped.rank))
    block = op.regions[0].blocks.append(*[shaped.element_type] * 3)
    with ir.InsertionPoint(block):
        linalg.YieldOp([combine(*block.arguments[:2])])
    return op.results[0]


def rewrite_scatter(scatter: ir.Operation) -> None:
    """A scatter of updates [rows, window ...] at indices [rows, dimensions] as a loop over rows."""
    updates, indices, target = scatter.operands
    shape = target.type.shape
    scattered = [int(dimension) for dimension in scatter.attributes["dimension_map"]]
    rows, *window = updates.type.shape
    extents = [1 if i in scattered else size for i, size in enumerate(shape)]
    rest = [size for i, size in enumerate(shape) if i not in scattered]
    if window not in (rest, extents) or len(scatter.results) != 1:
        raise UnsupportedStep(f"a scatter of slices {window} into {list(shape)} is not supported: scatter whole rows or elements")
    block = scatter.regions[0].blocks[0]
    with ir.InsertionPoint(scatter), scatter.location:
        element = ir.RankedTensorType.get(rest, target.type.element_type)
        loop = scf.ForOp(number(0), number(rows), number(1), [target])
        with ir.InsertionPoint(loop.body):
            row, result = loop.induction_variable, loop.inner_iter_args[0]
            place, inside = place_of(indices, row, [shape[i] - 1 for i in scattered])
            combine = lambda update, old: arith.SelectOp(inside, inlined(block, [update, old]), old).result
            offsets = dict(zip(scattered, place))
            if not rest:
                at = [offsets[i] for i in range(len(shape))]
                old = tensor.ExtractOp(result, at).result
                result = tensor.InsertOp(combine(tensor.ExtractOp(updates, [row] + [number(0)] * len(window)).result, old), result, at).result
            else:
                operands, attributes = slice_at([row] + [0] * len(window), [1] + window)
                update = tensor.ExtractSliceOp(element, updates, *operands, **attributes).result
                at = [offsets.get(i, 0) for i in range(len(shape))]
                operands, attributes = slice_at(at, extents)
                old = tensor.ExtractSliceOp(element, result, *operands, **attributes).result
                result = tensor.InsertSliceOp(elementwise(update, old, combine), result, *operands, **attributes).result
            scf.YieldOp([result])
    scatter.results[0].replace_all_uses_with(loop.results[0])
    scatter.erase()
