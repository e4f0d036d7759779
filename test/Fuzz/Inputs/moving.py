"""Ops of the tensor dialect and others that only move elements, and control flow."""
import elements
from elements import Undefined
from program import Op, Value, at, points, run_ops


def moved(value, shape, places, text, extra=()):
    """A result whose elements stand at places of the operand."""
    return Op([Value(shape, value.element)], [value, *extra], text, lambda data, *_: [[data[p] for p in places]])


def in_list(items):
    return "[" + ", ".join(map(str, items)) + "]"


def slice_text(offsets, sizes, steps):
    return in_list(offsets) + " " + in_list(sizes) + " " + in_list(steps)


def slice_places(shape, offsets, sizes, steps):
    return [at(shape, [o + i * s for o, i, s in zip(offsets, point, steps)]) for point in points(sizes)]


def dynamic_offsets(offsets, first):
    """Offsets as text, those that are values as operands from number first on."""
    values = [o for o in offsets if isinstance(o, Value)]
    text = ["{%d}" % (first + values.index(o)) if isinstance(o, Value) else o for o in offsets]
    return values, text


def known(offsets, data):
    data = iter(data)
    return [known_index(next(data)) if isinstance(o, Value) else o for o in offsets]


def known_index(data):
    if data[0] is elements.UNKNOWN:
        raise Undefined("an unknown index")
    return elements.signed("index", data[0])


def extract_slice(value, offsets, sizes, steps, dropped=()):
    shape = tuple(n for d, n in enumerate(sizes) if d not in dropped)
    values, text = dynamic_offsets(offsets, 1)
    result = Value(shape, value.element)

    def run(data, *indices):
        return [[data[p] for p in slice_places(value.shape, known(offsets, indices), sizes, steps)]]

    return Op([result], [value, *values], "tensor.extract_slice {0}" + slice_text(text, sizes, steps)
              + f" : {value.type()} to {result.type()}", run)


def insert_slice(part, value, offsets, steps, sizes=None):
    sizes = sizes or part.shape
    values, text = dynamic_offsets(offsets, 2)

    def run(source, data, *indices):
        data = list(data)
        for p, x in zip(slice_places(value.shape, known(offsets, indices), sizes, steps), source):
            data[p] = x
        return [data]

    return Op([Value(value.shape, value.element)], [part, value, *values],
              "tensor.insert_slice {0} into {1}" + slice_text(text, sizes, steps)
              + f" : {part.type()} into {value.type()}", run)


def pad(value, low, high, scalar):
    shape = tuple(l + n + h for l, n, h in zip(low, value.shape, high))
    result = Value(shape, value.element)
    given = ", ".join(f"%i{d}: index" for d in range(len(shape)))

    def run(data, padding):
        filled = padding * result.size()
        for point, x in zip(points(value.shape), data):
            filled[at(shape, [i + l for i, l in zip(point, low)])] = x
        return [filled]

    text = ("tensor.pad {0} low" + in_list(low) + " high" + in_list(high) + " {\n^bb0(" + given
            + "):\n  tensor.yield {1} : " + value.element + "\n} : " + f"{value.type()} to {result.type()}")
    return Op([result], [value, scalar], text, run)


def concat(values, dim):
    shape = list(values[0].shape)
    shape[dim] = sum(v.shape[dim] for v in values)
    result = Value(tuple(shape), values[0].element)

    def run(*data):
        out, start = [None] * result.size(), 0
        for value, each in zip(values, data):
            for point, x in zip(points(value.shape), each):
                out[at(shape, [i + start * (d == dim) for d, i in enumerate(point)])] = x
            start += value.shape[dim]
        return [out]

    operands = ", ".join("{%d}" % i for i in range(len(values)))
    types = ", ".join(v.type() for v in values)
    return Op([result], list(values), f"tensor.concat dim({dim}) {operands} : ({types}) -> {result.type()}", run)


def regroup(value, shape, groups, expands):
    result = Value(tuple(shape), value.element)
    name = "expand_shape" if expands else "collapse_shape"
    output = f" output_shape {in_list(shape)}" if expands else ""
    return Op([result], [value], f"tensor.{name} {{0}} {in_list(map(in_list, groups))}{output} : "
              f"{value.type()} into {result.type()}", lambda data: [data])


def reshape(value, shape, sizes):
    result = Value(tuple(shape), value.element)
    return Op([result], [value, sizes], f"tensor.reshape {{0}}({{1}}) : ({value.type()}, {sizes.type()}) -> "
              f"{result.type()}", lambda data, _: [data])


def transpose(value, init, order):
    places = []
    for point in points(init.shape):
        source = [0] * len(order)
        for d, o in enumerate(order):
            source[o] = point[d]
        places.append(at(value.shape, source))
    return moved(value, init.shape, places, f"linalg.transpose ins({{0}} : {value.type()}) outs({{1}} : "
                 f"{init.type()}) permutation = {in_list(order)}", [init])


def turn(value, init, order, backwards, first):
    """A transposed part by elements at computed places: each dimension from a first one on, or back to it."""
    places, inside, wanted = [], [], [None] * len(order)
    for point in points(init.shape):
        source = [0] * len(order)
        for d, o in enumerate(order):
            source[o] = first[d] + (init.shape[d] - 1 - point[d] if backwards[d] else point[d])
        places.append(at(value.shape, source))
    for d, o in enumerate(order):
        inside.append(f"  %i{d} = linalg.index {d} : index")
        wanted[o] = f"%i{d}"
        if backwards[d] or first[d]:
            begin = first[d] + (init.shape[d] - 1 if backwards[d] else 0)
            inside.append(f"  %n{d} = arith.constant {begin} : index")
            inside.append(f"  %b{d} = arith.{'subi' if backwards[d] else 'addi'} %n{d}, %i{d} : index")
            wanted[o] = f"%b{d}"
    inside.append(f"  %x = tensor.extract {{0}}{in_list(wanted)} : {value.type()}")
    dims = ", ".join(f"d{d}" for d in range(len(order)))
    kinds = ", ".join(['"parallel"'] * len(order))
    return moved(value, init.shape, places,
                 f"linalg.generic {{indexing_maps = [affine_map<({dims}) -> ({dims})>], iterator_types = [{kinds}]}} outs({{1}} : "
                 f"{init.type()}) {{\n^bb0(%out: {value.element}):\n" + "\n".join(inside)
                 + f"\n  linalg.yield %x : {value.element}\n}} -> {init.type()}", [init])


def broadcast(value, init, added):
    kept = [d for d in range(len(init.shape)) if d not in added]
    places = [at(value.shape, [point[d] for d in kept]) for point in points(init.shape)]
    return moved(value, init.shape, places, f"linalg.broadcast ins({{0}} : {value.type()}) outs({{1}} : "
                 f"{init.type()}) dimensions = {in_list(added)}", [init])


def copy(value, init):
    return Op([Value(init.shape, init.element)], [value, init], f"linalg.copy ins({{0}} : {value.type()}) outs({{1}} "
              f": {init.type()}) -> {init.type()}", lambda data, _: [data])


def splat(scalar, shape):
    result = Value(shape, scalar.element)
    return Op([result], [scalar], f"tensor.splat {{0}} : {result.type()}", lambda x: [x * result.size()])


def from_elements(scalars, shape):
    result = Value(shape, scalars[0].element)
    operands = ", ".join("{%d}" % i for i in range(len(scalars)))
    return Op([result], list(scalars), f"tensor.from_elements {operands} : {result.type()}",
              lambda *data: [[x[0] for x in data]])


def empty(shape, element):
    value = Value(shape, element)
    # Nothing may read it: UNKNOWN shows where something does.
    return Op([value], [], f"tensor.empty() : {value.type()}", lambda: [[elements.UNKNOWN] * value.size()])


def extract(value, indices):
    operands = ", ".join("{%d}" % (i + 1) for i in range(len(indices)))

    def run(data, *index):
        return [[data[at(value.shape, [known_index(i) for i in index])]]]

    return Op([Value(None, value.element)], [value, *indices], f"tensor.extract {{0}}[{operands}] : {value.type()}", run)


def insert(scalar, value, indices):
    operands = ", ".join("{%d}" % (i + 2) for i in range(len(indices)))

    def run(x, data, *index):
        data = list(data)
        data[at(value.shape, [known_index(i) for i in index])] = x[0]
        return [data]

    return Op([Value(value.shape, value.element)], [scalar, value, *indices],
              f"tensor.insert {{0}} into {{1}}[{operands}] : {value.type()}", run)


def bitcast(value, element):
    result = Value(value.shape, element)
    return Op([result], [value], f"tensor.bitcast {{0}} : {value.type()} to {result.type()}",
              lambda data: [[elements.bitcast(value.element, element, x) for x in data]])


# ---------------------------------------------------------------------------
# Control flow


def free_values(ops, given, yields):
    inside = set(given)
    free = []
    for op in ops:
        free += [v for v in op.operands if v not in inside]
        inside |= set(op.results)
    free += [v for v in yields if v not in inside]
    return list(dict.fromkeys(free))


class Block:
    def __init__(self, given, ops, yields):
        self.given, self.ops, self.yields = given, ops, yields
        self.free = free_values(ops, given, yields)

    def lean(self):
        """Without ops that no yielded value needs."""
        live, ops = set(self.yields), []
        for op in reversed(self.ops):
            if live & set(op.results):
                op = op.lean()
                live |= set(op.operands)
                ops.insert(0, op)
        return Block(self.given, ops, self.yields)

    def run(self, outside, data):
        env = dict(outside)
        env.update(zip(self.given, data))
        run_ops(self.ops, env)
        return [env[value] for value in self.yields]

    def lines(self, names, terminator="scf.yield"):
        lines = ["  " + line for op in self.ops for line in op.lines(names).split("\n")]
        if self.yields:
            lines.append(f"  {terminator} " + ", ".join(names[v] for v in self.yields)
                         + " : " + ", ".join(v.type() for v in self.yields))
        return "\n".join(lines)


def results_like(values):
    return [Value(value.shape, value.element) for value in values]


def counted_loop(bounds, inits, block, index):
    """scf.for; bounds are three index values; the block is given index and carries."""
    results = results_like(inits)
    operands = [*bounds, *inits, *block.free]

    def run(*data):
        low, high, step = (known_index(each) for each in data[:3])
        if step < 1:
            raise Undefined("a loop without an end")
        outside = dict(zip(block.free, data[3 + len(inits):]))
        carries = data[3:3 + len(inits)]
        for i in range(low, high, step):
            carries = block.run(outside, [[i], *carries])
        return list(carries)

    def text(names):
        carried = ", ".join(f"{names[a]} = {names[i]}" for a, i in zip(block.given[1:], inits))
        types = ", ".join(i.type() for i in inits)
        low, high, step = (names[b] for b in bounds)
        return (f"scf.for {names[index]} = {low} to {high} step {step} iter_args({carried}) -> ({types}) {{\n"
                f"{block.lines(names)}\n}}")

    return Op(results, operands, text, run, lambda: counted_loop(bounds, inits, block.lean(), index))


def while_loop(inits, before, condition, after):
    """scf.while; before yields what is handed to after, condition is its value."""
    results = results_like(inits)
    free = list(dict.fromkeys(before.free + after.free))

    def run(*data):
        outside = dict(zip(free, data[len(inits):]))
        carries = list(data[:len(inits)])
        for _ in range(1000):
            handed = before.run(outside, carries)
            if handed[0][0] is elements.UNKNOWN:
                raise Undefined("an unknown condition")
            if not handed[0][0]:
                return handed[1:]
            carries = after.run(outside, handed[1:])
        raise Undefined("a loop without an end")

    def text(names):
        carried = ", ".join(f"{names[a]} = {names[i]}" for a, i in zip(before.given, inits))
        types = ", ".join(i.type() for i in inits)
        handed = ", ".join(names[v] for v in before.yields[1:])
        first = Block(before.given, before.ops, []).lines(names)
        given = ", ".join(f"{names[v]}: {v.type()}" for v in after.given)
        return (f"scf.while ({carried}) : ({types}) -> ({types}) {{\n{first}\n"
                f"  scf.condition({names[condition]}) {handed} : {types}\n}} do {{\n^bb0({given}):\n"
                f"{after.lines(names)}\n}}")

    return Op(results, [*inits, *free], text, run,
              lambda: while_loop(inits, before, condition, after.lean()))


def choice(condition, then, otherwise):
    results = results_like(then.yields)
    free = list(dict.fromkeys(then.free + otherwise.free))

    def run(flag, *data):
        if flag[0] is elements.UNKNOWN:
            raise Undefined("an unknown condition")
        return (then if flag[0] else otherwise).run(dict(zip(free, data)), [])

    def text(names):
        types = ", ".join(r.type() for r in results)
        return (f"scf.if {names[condition]} -> ({types}) {{\n{then.lines(names)}\n}} else {{\n"
                f"{otherwise.lines(names)}\n}}")

    return Op(results, [condition, *free], text, run,
              lambda: choice(condition, then.lean(), otherwise.lean()))
