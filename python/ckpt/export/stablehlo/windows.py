"""Windows that reach beyond an array, as XLA reduces them: the elements that lie inside, and the initial value once.

StableHLO and IREE's input pipeline combine the initial value once more for each place beyond the array.
"""

import numpy as np
from iree.compiler import ir

from .ops import arrays, number_of, replace, select, splat, stablehlo_op

# The initial value once more changes nothing: any one, or this one.
IDEMPOTENT = ("and", "maximum", "minimum", "or")
NEUTRAL = {"add": 0, "multiply": 1}


class Edges:
    """The places around the elements of an array that windows count, by dimension."""

    def __init__(self, op):
        rank = op.operands[0].type.rank
        numbers = lambda name, width, default: np.array(op.attributes[name] if name in op.attributes else [default] * width * rank)
        padding = numbers("padding", 2, 0).reshape(rank, 2)
        self.before, self.behind = (padding[:, side].tolist() for side in (0, 1))
        self.between = (numbers("base_dilations", 1, 1) - 1).tolist()

    def around(self, value, number):
        """The value with a number at these places."""
        sizes = [b + size + max(0, size - 1) * i + a for b, size, i, a in zip(self.before, value.type.shape, self.between, self.behind)]
        padding = arrays(edge_padding_low=self.before, edge_padding_high=self.behind, interior_padding=self.between)
        return stablehlo_op("pad", value, sizes, [value, number], **padding)


def is_repeatable(op):
    """Whether the initial value may be combined any number of times."""
    body = list(op.regions[0].blocks[0].operations)
    name = body[0].operation.name.removeprefix("stablehlo.")
    if len(body) != 2 or name in IDEMPOTENT:
        return len(body) == 2
    return name in NEUTRAL and number_of(op.operands[1]) == NEUTRAL[name]


def reduce_inside(block, body):
    """Fills the block of a reduction with the body of another one, which meets elements that lie inside. The last of each
    half of the arguments says whether they do."""
    half = len(block.arguments) // 2
    left, right = list(block.arguments[:half]), list(block.arguments[half:])
    for old, new in zip(body.arguments, left[:-1] + right[:-1]):
        old.replace_all_uses_with(new)
    *operations, end = body.operations
    for operation in operations:
        block.append(operation)
    with ir.InsertionPoint(block):
        both = [select(right[-1], whole, kept) for whole, kept in zip(end.operands, left)]
        results = [select(left[-1], whole, kept) for whole, kept in zip(both, right)]
        ir.Operation.create("stablehlo.return", operands=[*results, stablehlo_op("or", left[-1], [], [left[-1], right[-1]])])


def rewrite_windows(op):
    """Rewrites a reduce_window whose initial value is not to be combined once more."""
    edges = Edges(op)
    if not any(edges.before + edges.behind + edges.between) or is_repeatable(op):
        return
    half = len(op.operands) // 2
    operands, initial = list(op.operands)[:half], list(op.operands)[half:]
    with ir.InsertionPoint(op), op.location:
        bit = ir.IntegerType.get_signless(1)
        is_inside, no, yes = (splat(ir.RankedTensorType.get(shape, bit), number) for shape, number in ((operands[0].type.shape, 1), ([], 0), ([], 1)))
        padded = [edges.around(value, number) for value, number in zip([*operands, is_inside], [*initial, no])]
        scalars = [ir.RankedTensorType.get([], value.type.element_type) for value in padded]
        kept = {name: op.attributes[name] for name in ("window_dimensions", "window_strides", "window_dilations") if name in op.attributes}
        results = [ir.RankedTensorType.get(op.results[0].type.shape, scalar.element_type) for scalar in scalars]
        reduced = ir.Operation.create("stablehlo.reduce_window", results, [*padded, *initial, yes], kept, regions=1)
        reduce_inside(reduced.regions[0].blocks.append(*scalars, *scalars), op.regions[0].blocks[0])
    replace(op, *reduced.results[:half])
