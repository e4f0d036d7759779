"""Scatters as torch-mlir writes them, in upstream dialects: a loop over the updates, in the order in which they are listed.

`lowering` calls it on a lowered module. An index out of bounds writes nothing.
"""

from torch_mlir import ir
from torch_mlir.dialects import arith, linalg, scf, tensor

from ...errors import UnsupportedStep
from ..upstream import Upstream

UPSTREAM = Upstream(ir, arith, linalg, scf, tensor)


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


def rewrite_scatter(scatter: ir.Operation) -> None:
    """A scatter of updates [rows, window ...] at indices [rows, dimensions] as a loop over rows.

    torch-mlir writes a window with or without the dimensions that are scattered along.
    """
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
        if window != extents:
            groups = [[0]]
            for i in range(len(shape)):
                if i in scattered:
                    groups[-1].append(i + 1)
                else:
                    groups.append([i + 1])
            expanded = ir.RankedTensorType.get([rows] + extents, target.type.element_type)
            updates = tensor.ExpandShapeOp(expanded, updates, groups, [], [rows] + extents).result
        combined = lambda update, old: inlined(block, [update, old])
        result = UPSTREAM.update_loop(target, indices, scattered, updates, combined)
    scatter.results[0].replace_all_uses_with(result)
    scatter.erase()
