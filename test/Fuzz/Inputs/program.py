"""Programs on tensors: ops that print themselves as MLIR and compute themselves.

A tensor is a flat list in row-major order. An op is evaluated when it is added, so a
generator sees what it works with, and never adds what is undefined.
"""
import itertools
import math
import re

import elements
from elements import UNKNOWN, Undefined


class Value:
    """A tensor, or with shape None a scalar."""

    def __init__(self, shape, element, data=None):
        self.shape, self.element, self.data = shape, element, data
        self.name = None

    def type(self):
        if self.shape is None:
            return self.element
        return "tensor<" + "".join(f"{size}x" for size in self.shape) + self.element + ">"

    def like(self, data):
        return Value(self.shape, self.element, data)

    def size(self):
        return math.prod(self.shape or ())


class Op:
    """Results, operands, the text with {0}, {1}, ... for operands, and an evaluator:
    from the operands' data to a list of the results' data."""

    def __init__(self, results, operands, text, run, rebuild=None):
        self.results, self.operands, self.text, self.run = results, operands, text, run
        self.rebuild = rebuild
        # Which feature of the generator added it.
        self.feature = None

    def lean(self):
        """The op with nothing inside that is not needed."""
        if not self.rebuild:
            return self
        op = self.rebuild()
        op.results, op.feature = self.results, self.feature
        return op

    def lines(self, names):
        """The op as MLIR; names maps values to names."""
        text = self.text
        if callable(text):
            text = text(names)
        else:
            for number, operand in enumerate(self.operands):
                text = text.replace("{%d}" % number, names[operand])
        results = ", ".join(names[result] for result in self.results)
        return f"{results} = {text}" if results else text

    def evaluate(self, env):
        data = self.run(*[env[operand] for operand in self.operands])
        for result, each in zip(self.results, data):
            if result.shape is not None and len(each) != result.size():
                raise AssertionError(f"{self.text}: {len(each)} elements for {result.type()}")
            env[result] = each


class Names(dict):
    """Names of values, given when they are first asked for."""

    counter, lean = 0, False

    def __missing__(self, value):
        Names.counter += 1
        self[value] = f"%v{Names.counter}"
        return self[value]


def run_ops(ops, env, altered=None):
    """Evaluates ops; the results of an altered one are wrong in all elements."""
    for op in ops:
        op.evaluate(env)
        if op is altered:
            env.update((result, [elements.altered(x) for x in env[result]]) for result in op.results)


class Program:
    def __init__(self):
        self.arguments, self.ops, self.returned = [], [], []
        self.ways = "as-written:cpu none:cpu"
        # Whether the text leaves out scalar code that no result needs.
        self.lean = False

    def text(self, comment=""):
        Names.counter = 0
        names = Names()
        names.lean = self.lean
        for number, argument in enumerate(self.arguments):
            names[argument] = f"%arg{number}"
        size = sum(elements.storage(a.element) * a.size() for a in self.arguments)
        lines = [f"// ways: {self.ways}", f"// bytes: {size}"]
        if comment:
            lines.append(f"// {comment}")
        arguments = ", ".join(f"{names[a]}: {a.type()}" for a in self.arguments)
        results = ", ".join(value.type() for value in self.returned)
        lines.append(f"func.func @main({arguments}) -> ({results}) {{")
        for op in self.ops:
            lines.extend("  " + line for line in op.lines(names).split("\n"))
        lines.append("  return " + ", ".join(names[v] for v in self.returned) + " : " + results)
        return "\n".join(lines + ["}", ""])

    def argument_bytes(self):
        return b"".join(elements.encode(a.element, x) for a in self.arguments for x in a.data)

    def evaluate(self, altered=None):
        """The data of what is returned."""
        env = {argument: argument.data for argument in self.arguments}
        run_ops(self.ops, env, altered)
        return [env[value] for value in self.returned]

    def without_dead_arguments(self):
        used = {operand for op in self.ops for operand in op.operands} | set(self.returned)
        self.arguments = [a for a in self.arguments if a in used]
        return self


# ---------------------------------------------------------------------------
# Indices


def points(sizes):
    return itertools.product(*map(range, sizes))


def strides(shape):
    result, step = [], 1
    for size in reversed(shape):
        result.append(step)
        step *= size
    return result[::-1]


def at(shape, index):
    place = 0
    for size, i in zip(shape, index):
        if not 0 <= i < size:
            raise Undefined("an index out of range")
        place = place * size + i
    return place


class Map:
    """An affine map; each result is coefficients of the dimensions and a constant."""

    def __init__(self, dims, results):
        self.dims, self.results = dims, results

    def __call__(self, point):
        return [sum(c * i for c, i in zip(cs, point)) + k for cs, k in self.results]

    def places(self, shape):
        """A function from a point to the place in a tensor of this shape."""
        step = strides(shape)
        weights = [sum(cs[d] * s for (cs, _), s in zip(self.results, step)) for d in range(self.dims)]
        start = sum(k * s for (_, k), s in zip(self.results, step))
        return lambda point: start + sum(w * i for w, i in zip(weights, point))

    def __str__(self):
        dims = ", ".join(f"d{i}" for i in range(self.dims))
        return f"affine_map<({dims}) -> ({', '.join(map(expression, self.results))})>"


def expression(result):
    coefficients, constant = result
    terms = [f"d{i}" if c == 1 else f"d{i} * {c}" for i, c in enumerate(coefficients) if c]
    if constant or not terms:
        terms.append(str(constant))
    return " + ".join(terms)


def projection(dims, kept):
    return Map(dims, [(tuple(int(d == k) for d in range(dims)), 0) for k in kept])


def identity(rank):
    return projection(rank, range(rank))


# ---------------------------------------------------------------------------
# Literals


def literal(element, x):
    if element == "i1":
        return "true" if x else "false"
    if elements.is_float(element):
        text = repr(x)
        return text if "." in text else text.replace("e", ".0e")
    return str(elements.signed(element, x))


def constant(value):
    """The op that makes a value of known data."""
    if value.shape is None:
        scalar = literal(value.element, value.data[0])
        kind = "" if value.element == "i1" else f" : {value.element}"
        return Op([value], [], f"arith.constant {scalar}{kind}", lambda: [value.data])
    flat = [literal(value.element, x) for x in value.data]
    same = len(set(flat)) == 1 and len(flat) > 0

    def nest(shape, items):
        if not shape:
            return items[0]
        step = len(items) // shape[0] if shape[0] else 0
        return "[" + ", ".join(nest(shape[1:], items[i * step:(i + 1) * step]) for i in range(shape[0])) + "]"

    body = flat[0] if same else nest(value.shape, flat) if flat else ""
    return Op([value], [], f"arith.constant dense<{body}> : {value.type()}", lambda: [value.data])


# ---------------------------------------------------------------------------
# Bodies: scalar code of a structured op


class Body:
    """Instructions on scalars: the first slots are what the block is given."""

    def __init__(self, types):
        self.types, self.given = list(types), len(types)
        self.code, self.text, self.captured = [], [], []

    def add(self, type_, text, function, *slots):
        """text has {0}, ... for the slots and {c0}, ... for captured values; returns
        the new slot."""
        for number, slot in enumerate(slots):
            text = text.replace("{%d}" % number, f"\1{slot}\1")
        self.text.append(f"\1{len(self.types)}\1 = {text}")
        self.code.append((function, slots))
        self.types.append(type_)
        return len(self.types) - 1

    def run(self, given):
        slots = list(given)
        for function, operands in self.code:
            slots.append(function(*[slots[i] for i in operands]))
        return slots

    def lines(self, names, prefix, yields):
        live = set(yields)
        for number in reversed(range(len(self.code))):
            if self.given + number in live:
                live |= set(self.code[number][1])
        text = "\n".join("  " + line for number, line in enumerate(self.text)
                         if not names.lean or self.given + number in live)
        text = re.sub("\1(\\d+)\1", lambda found: prefix + found[1], text)
        return re.sub(r"{c(\d+)}", lambda found: names[self.captured[int(found[1])]], text)

    def fresh_prefix(self):
        Names.counter += 1
        return f"%b{Names.counter}_"


COMBINERS = {
    "add": (("arith.addf", "arith.addi"), elements.total),
    "mul": (("arith.mulf", "arith.muli"), elements.product),
}


def fold_with(name):
    table = elements.FLOAT_BINARY if name in elements.FLOAT_BINARY else elements.INT_BINARY

    def call(type_, terms, start):
        for term in terms:
            if term is UNKNOWN or start is UNKNOWN:
                return UNKNOWN
            start = table[name](type_, start, term)
        return start

    return call


def scalar_call(name, type_):
    """The evaluator of a scalar op on operands of one type."""
    if name in elements.FLOAT_BINARY or name in elements.FLOAT_UNARY:
        table = {**elements.FLOAT_BINARY, **elements.FLOAT_UNARY}[name]
        return lambda *operands: table(type_, *operands)
    table = {**elements.INT_BINARY, **elements.INT_UNARY}[name]

    def call(*operands):
        if any(x is UNKNOWN for x in operands):
            if name in elements.PARTIAL and operands[1] is UNKNOWN:
                raise Undefined("an operand that may not be allowed")
            if name in elements.PARTIAL and "s" in name[6:]:
                raise Undefined("an operand that may not be allowed")
            return UNKNOWN
        return table(type_, *operands)

    return call
