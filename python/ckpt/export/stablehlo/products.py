"""What JAX writes turned: the gradient of a weight is a product whose result is transposed.

With its factors exchanged the product has the layout of the weight, so that an update reads it,
and may be written over it, element by element.
"""

import re

from iree.compiler import ir

from .ops import replace


def dimensions_of(product):
    """The numbers of batching, left and right free dimensions of a dot_general's result."""
    numbers = str(product.attributes["dot_dimension_numbers"])

    def count(side):
        found = re.search(side + r"_dimensions = \[([^\]]*)\]", numbers)
        return len(found[1].split(",")) if found else 0

    batching = count("lhs_batching")
    left, right = (operand.type.rank for operand in product.operands)
    contracting = count("lhs_contracting")
    return batching, left - batching - contracting, right - batching - contracting


def exchange(product, type):
    """The product with its factors exchanged."""
    numbers = str(product.attributes["dot_dimension_numbers"])
    numbers = re.sub(r"\b([lr])hs_", lambda side: {"l": "rhs_", "r": "lhs_"}[side[1]], numbers)
    attributes = {name: product.attributes[name] for name in product.attributes}
    attributes["dot_dimension_numbers"] = ir.Attribute.parse(in_order(numbers))
    if "precision_config" in attributes:
        attributes["precision_config"] = ir.ArrayAttr.get(list(attributes["precision_config"])[::-1])
    with ir.InsertionPoint(product), product.location:
        return ir.Operation.create(
            product.name, results=[type], operands=list(product.operands)[::-1], attributes=attributes
        ).result


def in_order(numbers):
    """The left side's dimensions before the right side's, as they are read."""
    fields = re.findall(r"\w+ = \[[^\]]*\]", numbers)
    return f"#stablehlo.dot<{', '.join(sorted(fields, key=lambda field: (field.split('_')[1], field)))}>"


def drop_algorithm(product):
    """Forgets in how many narrow pieces a device may multiply: linalg computes in the types that stand
    there, which is no less precise where sums have the type of the result."""
    algorithm = re.search(r"accumulation_type = (\w+)", str(product.attributes["algorithm"]))
    if algorithm[1] == str(product.results[0].type.element_type):
        del product.attributes["algorithm"]


def rewrite_turned_product(transpose):
    """A transpose that does nothing but put the right free dimensions of a product first."""
    product = transpose.operands[0].owner
    if isinstance(product, ir.Block):
        return
    product = product.operation
    if product.name != "stablehlo.dot_general":
        return
    if len(list(product.results[0].uses)) != 1:
        return
    batching, left, right = dimensions_of(product)
    rank = batching + left + right
    turned = [*range(batching), *range(batching + left, rank), *range(batching, batching + left)]
    if list(transpose.attributes["permutation"]) != turned:
        return
    replace(transpose, exchange(product, transpose.results[0].type))
    product.erase()
