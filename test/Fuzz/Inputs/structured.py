"""Structured ops: linalg.generic with any maps, and the named ops as such loops."""
import math
from fractions import Fraction

import elements
from program import COMBINERS, Body, Map, Op, Value, fold_with, identity, points, projection, scalar_call


class Generic:
    """A loop nest. yields are slots of the body, one per output; combine names how an
    output gathers its terms ("" where each element is made once). In a body the slots
    are the inputs, then the outputs, then the indices."""

    def __init__(self, sizes, iterators):
        self.sizes, self.iterators = sizes, iterators
        self.inputs, self.outputs, self.maps, self.combine = [], [], [], []

    def read(self, value, map_):
        self.inputs.append(value)
        self.maps.insert(len(self.inputs) - 1, map_)

    def write(self, value, map_, combine=""):
        self.outputs.append(value)
        self.maps.append(map_)
        self.combine.append(combine)

    def body(self):
        types = [value.element for value in self.inputs + self.outputs]
        return Body(types + ["index"] * len(self.sizes))

    def is_invertible(self):
        """Whether some map gives each dimension by itself."""
        alone = {cs.index(1) for map_ in self.maps for cs, k in map_.results
                 if k == 0 and sorted(cs)[-2:] in ([1], [0, 1]) and sum(cs) == 1}
        return len(alone) == len(self.sizes)

    def op(self, body, yields):
        results = [Value(value.shape, value.element) for value in self.outputs]
        operands = self.inputs + self.outputs + body.captured
        return Op(results, operands, lambda names: self.text(names, body, yields),
                  lambda *data: self.run(body, yields, data))

    # -- evaluation

    def run(self, body, yields, data):
        count = len(self.inputs)
        body.data = data[count + len(self.outputs):]
        places = [map_.places(value.shape) for map_, value in zip(self.maps, self.inputs + self.outputs)]
        results = [list(each) for each in data[count:count + len(self.outputs)]]
        terms = [{} for _ in self.outputs]
        for point in points(self.sizes):
            at = [place(point) for place in places]
            given = [data[i][at[i]] for i in range(len(at))]
            slots = body.run(given + list(point))
            for i, slot in enumerate(yields):
                if self.combine[i]:
                    terms[i].setdefault(at[count + i], []).append(slots[slot])
                else:
                    results[i][at[count + i]] = slots[slot]
        for i, gathered in enumerate(terms):
            for place, each in gathered.items():
                results[i][place] = gather(self.combine[i], self.outputs[i].element, each, results[i][place])
        return results

    # -- text

    def text(self, names, body, yields):
        prefix = body.fresh_prefix()
        maps = ", ".join(map(str, self.maps))
        iterators = ", ".join(f'"{kind}"' for kind in self.iterators)
        lines = [f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}}"
                 + listed(" ins", self.inputs, names) + listed(" outs", self.outputs, names) + " {"]
        given = len(self.inputs) + len(self.outputs)
        lines.append("^bb0(" + ", ".join(f"{prefix}{i}: {body.types[i]}" for i in range(given)) + "):")
        used = {slot for _, slots in body.code for slot in slots} | set(yields)
        lines += [f"  {prefix}{given + d} = linalg.index {d} : index"
                  for d in range(len(self.sizes)) if given + d in used]
        if body.text:
            lines.append(body.lines(names, prefix, yields))
        yielded = []
        for i, slot in enumerate(yields):
            value, type_ = f"{prefix}{slot}", self.outputs[i].element
            if self.combine[i]:
                op = combiner(self.combine[i], type_)
                lines.append(f"  {prefix}y{i} = {op} {prefix}{len(self.inputs) + i}, {value} : {type_}")
                value = f"{prefix}y{i}"
            yielded.append((value, type_))
        lines.append("  linalg.yield " + ", ".join(v for v, _ in yielded)
                     + " : " + ", ".join(t for _, t in yielded))
        types = ", ".join(value.type() for value in self.outputs)
        lines.append("} -> " + (types if len(self.outputs) == 1 else f"({types})"))
        return "\n".join(lines)


def listed(word, values, names):
    if not values:
        return ""
    return (f"{word}(" + ", ".join(names[v] for v in values) + " : "
            + ", ".join(v.type() for v in values) + ")")


def combiner(name, type_):
    if name in COMBINERS:
        return COMBINERS[name][0][not elements.is_float(type_)]
    return name


def gather(name, type_, terms, start):
    return (COMBINERS[name][1] if name in COMBINERS else fold_with(name))(type_, terms, start)


# ---------------------------------------------------------------------------
# Named ops


def contraction(name, attributes, left, right, init, sizes, maps, iterators, casts):
    """A named op that sums products; casts extend both factors to the sum's type."""
    loop = Generic(sizes, iterators)
    loop.read(left, maps[0])
    loop.read(right, maps[1])
    loop.write(init, maps[2], "add")
    body = loop.body()
    factors = []
    for slot in (0, 1):
        source = body.types[slot]
        if source == init.element:
            factors.append(slot)
            continue
        factors.append(body.add(init.element, "", lambda x, s=source: elements.cast(casts, s, init.element, x), slot))
    multiply = "arith.mulf" if elements.is_float(init.element) else "arith.muli"
    if multiply == "arith.mulf":
        # The product may stay unrounded inside a fused multiply-add.
        slot = body.add(init.element, "", lambda a, b: unrounded(init.element, a, b), *factors)
    else:
        slot = body.add(init.element, "", scalar_call(multiply, init.element), *factors)
    result = Value(init.shape, init.element)
    operands = [left, right, init]
    return Op([result], operands,
              lambda names: f"{name}{attributes}" + listed(" ins", [left, right], names)
              + listed(" outs", [init], names) + f" -> {init.type()}",
              lambda *data: loop.run(body, [slot], data))


def unrounded(type_, a, b):
    rounded = elements.FLOAT_BINARY["arith.mulf"](type_, a, b)
    if not (elements.exact(a, b) and isinstance(rounded, float)) or not math.isfinite(rounded):
        return rounded
    if Fraction(rounded) == Fraction(a) * Fraction(b):
        return rounded
    return elements.widened(type_, a * b, a * b)


def pooling(name, attributes, input_, window, init, sizes, maps, iterators, combine):
    loop = Generic(sizes, iterators)
    loop.read(input_, maps[0])
    loop.read(window, maps[1])
    loop.write(init, maps[2], combine)
    body = loop.body()
    return Op([Value(init.shape, init.element)], [input_, window, init],
              lambda names: f"{name}{attributes}" + listed(" ins", [input_, window], names)
              + listed(" outs", [init], names) + f" -> {init.type()}",
              lambda *data: loop.run(body, [0], data))


def elementwise(text, function, operands, element):
    """One scalar function on tensors (or scalars) of one shape."""
    result = Value(operands[0].shape, element)
    return Op([result], operands, text, lambda *data: [[function(*each) for each in zip(*data)]])


def fill(scalar, init):
    result = Value(init.shape, init.element)
    return Op([result], [scalar, init],
              "linalg.fill ins({0} : %s) outs({1} : %s) -> %s" % (scalar.type(), init.type(), init.type()),
              lambda x, _: [x * init.size()])


def reduce(input_, init, dims, combine):
    """linalg.reduce over some dimensions, one op inside."""
    rank = len(input_.shape)
    kept = [d for d in range(rank) if d not in dims]
    loop = Generic(input_.shape, [])
    loop.read(input_, identity(rank))
    loop.write(init, projection(rank, kept), combine)
    body = loop.body()
    op = combiner(combine, init.element)
    return Op([Value(init.shape, init.element)], [input_, init],
              "linalg.reduce { %s } ins({0} : %s) outs({1} : %s) dimensions = [%s]"
              % (op, input_.type(), init.type(), ", ".join(map(str, dims))),
              lambda *data: loop.run(body, [0], data))


def windowed(dims, pairs):
    """A map whose results are sums of dimensions with strides: [{dim: factor}]."""
    return Map(dims, [(tuple(pair.get(d, 0) for d in range(dims)), 0) for pair in pairs])
