"""What a program computes, and which element of an input goes where.

`Numbering` gives every value a number such that equal numbers mean: the same
ops with the same attributes on the same operands. Two programs of which all
returned values have equal numbers compute the same, whatever their order, their
kernels and their recomputations. `read_places` says whether a kernel may write a
result over one of its inputs.
"""

import re

PASSED_THROUGH = ("ckpt.barrier",)


class UndefinedValue(Exception):
    """An operand that nothing before it defines: (name, op)."""


class Numbering:
    """Numbers values by hash consing: exact, so that no two meanings collide."""

    def __init__(self):
        self.numbers = {}

    def number(self, *meaning):
        return self.numbers.setdefault(meaning, len(self.numbers))

    def argument(self, index):
        return self.number("argument", index)

    def operands(self, op, scope):
        numbers = []
        for name in op.operands:
            if name not in scope:
                raise UndefinedValue(name, op)
            numbers.append(scope[name])
        return tuple(numbers)

    def op(self, op, scope, depth=0):
        """Number of an op; the numbers of its results go into `scope`."""
        operands = self.operands(op, scope)
        if op.name in PASSED_THROUGH:
            scope.update(zip(op.results, operands))
            return None
        attributes = tuple(
            sorted(pair for pair in op.attributes.items() if pair[0][:5] != "ckpt.")
        )
        regions = tuple(self.region(region, scope, depth + 1) for region in op.regions)
        number = self.number(
            op.name, attributes, operands, op.operand_types, op.result_types, regions
        )
        for i, result in enumerate(op.results):
            many = len(op.results) > 1
            scope[result] = self.number("result", number, i) if many else number
        return number

    def region(self, region, scope, depth):
        """Number of a region. Its names go when it ends; its arguments are
        numbered by position, so that what they are called does not matter."""
        for i, (name, type_) in enumerate(region.arguments):
            scope[name] = self.number("region argument", depth, i, type_)
        ops = tuple(self.op(op, scope, depth) for op in region.ops)
        for name, _ in region.arguments:
            del scope[name]
        for op in region.ops:
            for result in op.results:
                del scope[result]
        return self.number("region", tuple(t for _, t in region.arguments), ops)


def flat_ops(ops, scope):
    """The ops of a block, those of its layers in their place. A layer's results
    are bound to what it yields when the iteration comes back from it."""
    for op in ops:
        if op.name != "ckpt.layer":
            yield op
            continue
        body = op.regions[0].ops
        yield from flat_ops(body[:-1], scope)
        for result, value in zip(op.results, body[-1].operands):
            if value not in scope:
                raise UndefinedValue(value, body[-1])
            scope[result] = scope[value]


# Types.

WIDTHS = {"i1": 8, "index": 64, "bf16": 16, "tf32": 32}


def shape_and_element(type_):
    """((2, 3), "f32") of "tensor<2x3xf32>"; None of what is no static tensor."""
    match = re.fullmatch(r"tensor<((?:\d+x)*)([^<>,?*]+|complex<[^<>]*>)>", type_)
    if not match:
        return None
    return tuple(int(d) for d in match.group(1).split("x")[:-1]), match.group(2)


def element_bits(element):
    if element.startswith("complex<"):
        return 2 * element_bits(element[8:-1])
    if element in WIDTHS:
        return WIDTHS[element]
    digits = re.fullmatch(r"(?:[su]?i|f)(\d+).*", element)
    return -(-int(digits.group(1)) // 8) * 8 if digits else 0


def type_bytes(type_):
    """Bytes that a value takes at least; 0 for what is no static tensor."""
    parts = shape_and_element(type_)
    if not parts:
        return 0
    elements = 1
    for size in parts[0]:
        elements *= size
    return elements * element_bits(parts[1]) // 8


# Anchors.

# Structured ops by name that compute element by element.
ELEMENTWISE = set(
    "abs add ceil copy div div_unsigned elementwise erf exp floor log map max min mul "
    "negf powf reciprocal round rsqrt select sqrt square sub tanh".split()
)
MOVES = {"fill", "generic", "index", "yield", "transpose", "broadcast"}


def is_contraction(op):
    dialect, _, name = op.name.partition(".")
    return dialect == "linalg" and bool(
        re.search(r"matmul|matvec|vecmat|mmt4d|(^|_)dot|contract|conv", name)
    )


def is_anchor(op):
    """Whether a kernel may hold only one such op."""
    dialect, _, name = op.name.partition(".")
    if dialect == "linalg":
        if name == "generic":
            return "iterator_type<reduction>" in op.attributes["iterator_types"]
        return name not in ELEMENTWISE and name not in MOVES
    return dialect == "scf" and name in ("for", "while", "forall", "parallel", "if")


# In place.

ELSEWHERE = "elsewhere"


def integers(text):
    return [int(number) for number in re.findall(r"-?\d+", text.partition(":")[2])]


def read_places(op, places):
    """Where the results of `op` hold the elements of the input that `places`
    describes: for each value a shape, such that its element at some coordinates
    reads only the input's element at the linear position that these coordinates
    have in that shape; ELSEWHERE if it reads others; absent if none."""
    captured = any(name in places for name in names_inside(op))
    for i, result in enumerate(op.results):
        found = {ELSEWHERE} if captured else set()
        for j, operand in enumerate(op.operands):
            if operand in places and reads(op, j):
                place = places[operand]
                if place != ELSEWHERE:
                    place = handed_on(op, j, i, place)
                found.add(place)
        if found:
            places[result] = found.pop() if len(found) == 1 else ELSEWHERE


def names_inside(op):
    """Values that the regions of `op` read, their own among them."""
    for region in op.regions:
        for inner in region.ops:
            yield from inner.operands
            yield from names_inside(inner)


def reads(op, operand):
    """Whether the elements of an operand are read at all."""
    if op.name == "tensor.empty" or (op.name == "linalg.fill" and operand == 1):
        return False
    if op.name == "linalg.generic":
        return op.regions[0].arguments[operand][0] in names_inside(op)
    return True


def handed_on(op, operand, result, place):
    """The place of result `result` through operand `operand` alone."""
    shape = shape_and_element(op.operand_types[operand])
    target = shape_and_element(op.result_types[result])
    if not shape or not target:
        return ELSEWHERE
    shape, target = shape[0], target[0]
    dialect, _, name = op.name.partition(".")
    if name in ("expand_shape", "collapse_shape", "reshape"):
        return target if place == shape else ELSEWHERE
    if dialect in ("arith", "math") or op.name == "tensor.cast":
        return place if shape == target else ELSEWHERE
    if dialect == "linalg":
        if same_element(op, operand, result):
            return place
        order = permutation(op)
        return permuted(place, order) if order else ELSEWHERE
    if op.name == "scf.for":
        return place if operand == 3 + result else ELSEWHERE
    return place if dialect == "tensor" and from_origin(op, operand) else ELSEWHERE


def same_element(op, operand, result):
    """Whether a structured op makes an element from the same one of `operand`:
    its destination, or an input of an elementwise op read through one map."""
    inputs = integers(op.attributes["operandSegmentSizes"])[0]
    if operand == inputs + result:
        return True
    if op.name != "linalg.generic":
        return op.name[7:] in ELEMENTWISE
    maps = re.findall(r"affine_map<(.*?)>(?=[,\]])", op.attributes["indexing_maps"])
    return not is_anchor(op) and maps[operand] == maps[inputs + result]


def permutation(op):
    """Of a structured op that only permutes its input: for each dimension of the
    input the dimension of the result; else None."""
    if op.name != "linalg.generic" or is_anchor(op) or len(op.operands) != 2:
        return None
    body = op.regions[0]
    if len(body.ops) != 1 or body.ops[0].operands != [body.arguments[0][0]]:
        return None
    maps = re.findall(r"affine_map<(.*?)>(?=[,\]])", op.attributes["indexing_maps"])
    source, target = (re.findall(r"d\d+", m.partition("->")[2]) for m in maps)
    return [target.index(d) for d in source] if set(source) == set(target) else None


def permuted(place, order):
    """A place seen through a permutation: (shape, order of its dimensions), or
    the shape again where permutations cancel."""
    if place and isinstance(place[0], tuple):
        shape, before = place
        order = [order[d] for d in before]
    else:
        shape = place
    return shape if order == sorted(order) else (shape, tuple(order))


def from_origin(op, operand):
    """Whether a pad, slice or insertion leaves every element of `operand` at its
    coordinates."""
    if op.name == "tensor.insert_slice" and operand == 1:
        return True
    ranks = {len(shape_and_element(t)[0]) for t in (op.operand_types[0], *op.result_types)}
    if operand or len(ranks) != 1:
        return False
    if op.name == "tensor.pad":
        return not any(integers(op.attributes["static_low"]))
    if op.name in ("tensor.extract_slice", "tensor.insert_slice"):
        return not any(integers(op.attributes["static_offsets"])) and set(
            integers(op.attributes["static_strides"])
        ) <= {1}
    return False
