"""What IREE's input pipeline would take into matmuls and convolutions: conversions of integers.

Linalg casts the operands of a contraction as signed integers, true to -1 and 200 to -56, and the
pipeline folds conversions into them. Here StableHLO still says which integers are unsigned.
"""

from iree.compiler import ir
from iree.compiler.dialects import arith, tensor

from .ops import UPSTREAM, bitcast, is_unsigned, replace, signless, stablehlo_op

CONTRACTIONS = ("stablehlo.convolution", "stablehlo.dot", "stablehlo.dot_general")


def is_widened(source, target):
    """Whether a conversion depends on how the integers that it is from are signed."""
    source, target = source.element_type, target.element_type
    if not isinstance(source, ir.IntegerType):
        return False
    return isinstance(target, ir.FloatType) or isinstance(target, ir.IntegerType) and source.width < target.width


def convert(value, element):
    """Integers as floating-point or wider integer numbers, by one linalg.generic."""
    # Booleans are 0 and 1; their type, i1, is signless.
    unsigned = is_unsigned(value.type.element_type) or value.type.element_type.width == 1
    if isinstance(element, ir.FloatType):
        cast, type = arith.UIToFPOp if unsigned else arith.SIToFPOp, element
    else:
        cast, type = arith.ExtUIOp if unsigned else arith.ExtSIOp, ir.IntegerType.get_signless(element.width)
    target = tensor.EmptyOp(value.type.shape, type).result
    return bitcast(UPSTREAM.elementwise(signless(value), target, lambda number, _: cast(type, number).result), element)


def rewrite_conversion(operation):
    """A conversion that depends on signs, as what the pipeline folds nowhere. Scalars stay: they
    are no operands of contractions, and the bodies of reductions hold nothing else."""
    (value,), (result,) = operation.operands, operation.results
    if value.type.rank and is_widened(value.type, result.type):
        with ir.InsertionPoint(operation), operation.location:
            replace(operation, convert(value, result.type.element_type))


def rewrite_contraction(operation):
    """Integers that are multiplied as wider numbers are converted first."""
    result = operation.results[0].type
    for i, operand in enumerate(operation.operands):
        if is_widened(operand.type, result):
            with ir.InsertionPoint(operation), operation.location:
                operation.operands[i] = convert(operand, result.element_type)


def rewrite_reversal(operation):
    """Unsigned integers are turned around as their bits: the pipeline knows signless ones only. Without dimensions nothing turns."""
    (value,) = operation.operands
    if not list(ir.DenseI64ArrayAttr(operation.attributes["dimensions"])):
        replace(operation, value)
    elif is_unsigned(value.type.element_type):
        with ir.InsertionPoint(operation), operation.location:
            dimensions = operation.attributes["dimensions"]
            turned = stablehlo_op("reverse", signless(value), value.type.shape, dimensions=dimensions)
            replace(operation, bitcast(turned, value.type.element_type))
