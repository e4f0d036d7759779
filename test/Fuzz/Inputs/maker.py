"""What every feature of the generator needs: values to read, data, scalar code."""
import elements
import moving
import structured
from elements import UNKNOWN, Undefined
from program import Value, constant, literal, scalar_call

FLOATS = ["f32", "f32", "f32", "f64", "bf16", "f16"]
INTS = ["i32", "i64", "i1", "i8", "i16"]
ODD_INTS = ["i2", "i3", "i4", "i7", "i12", "i24", "i48"]
MOST = 1500


class Skip(Exception):
    """A feature that does not fit where the program stands."""


class Maker:
    """Adds ops to a list; inside loops another one, for the region."""

    def __init__(self, choices, program, sizes, excluded=(), outer=None):
        self.choices, self.program, self.sizes = choices, program, sizes
        self.excluded, self.outer = excluded, outer
        # The feature that adds ops.
        self.feature = outer.feature if outer else None
        self.ops = [] if outer else program.ops
        self.values = list(outer.values) if outer else program.arguments[:]

    def add(self, op):
        data = op.run(*[operand.data for operand in op.operands])
        for result, each in zip(op.results, data):
            if result.shape is not None and len(each) != result.size():
                raise AssertionError(f"{op.text}: {len(each)} elements for {result.type()}")
            result.data = each
        op.feature = self.feature
        self.ops.append(op)
        self.values += op.results
        return op.results[0]

    # -- types and data

    def element(self, odd=True):
        kind = self.choices.below(100)
        if odd and kind >= 92 and "odd-widths" not in self.excluded:
            return self.choices.pick(ODD_INTS)
        return self.choices.pick(FLOATS if kind < 62 else INTS)

    def size(self):
        return self.choices.pick(self.sizes)

    def shape(self, rank=None, most=MOST):
        rank = self.choices.weighted([(2, 30), (1, 25), (3, 20), (0, 6), (4, 10), (5, 5), (6, 4)]) if rank is None else rank
        shape, total = [], 1
        for _ in range(rank):
            size = self.size()
            if total * size > most:
                size = self.choices.pick([1, 2])
            shape.append(size)
            total *= max(size, 1)
        return tuple(shape)

    def number(self, element, kind):
        choices = self.choices
        if elements.is_float(element):
            if kind == 0:
                return elements.to_type(element, choices.between(-4, 4) / 1.0)
            if kind == 1:
                return choices.between(-16, 16) / 4.0
            return elements.to_type(element, choices.between(-30000, 30000) / 10007.0)
        if kind == 0:
            return elements.bits(element, choices.between(-3, 7))
        return elements.bits(element, choices.below(1 << min(elements.width(element), 62)))

    def data(self, shape, element):
        """Data from one seed: so that an argument is one choice to shrink."""
        kind, seed = self.choices.below(3), self.choices.below(1 << 30)
        kept = self.choices
        self.choices = type(kept)(seed)
        count = 1
        for size in shape or ():
            count *= size
        data = [self.number(element, kind) for _ in range(count)]
        self.choices = kept
        return data

    # -- values

    def scalar(self, element, number=None):
        value = Value(None, element, [self.number(element, 1) if number is None else number])
        return self.add(constant(value))

    def index(self, number):
        return self.scalar("index", number)

    def leaf(self, shape, element):
        value = Value(shape, element, self.data(shape, element))
        legal = element not in ODD_INTS and element != "index"
        if legal and not self.choices.chance(15):
            self.program.arguments.append(value)
            self.values.append(value)
            return value
        if self.choices.chance(60) or value.size() > 200:
            value.data = value.data[:1] * value.size()
        return self.add(constant(value))

    def find(self, test):
        found = [v for v in self.values if v.shape is not None and test(v) and not self.is_undefined(v)]
        if not found or not self.choices.below(5):
            return None
        return found[-1 - min(self.choices.below(len(found)), self.choices.below(len(found)))]

    @staticmethod
    def is_undefined(value):
        return any(x is UNKNOWN for x in value.data) and all(x is UNKNOWN for x in value.data)

    def tensor(self, element=None, shape=None, rank=None, test=lambda v: True):
        """A tensor of the program, or a new one."""
        found = self.find(lambda v: (element is None or v.element == element)
                          and (shape is None or v.shape == shape)
                          and (rank is None or len(v.shape) == rank) and test(v))
        if found:
            return found
        for _ in range(20):
            fresh = Value(shape if shape is not None else self.shape(rank), element or self.element())
            if test(fresh):
                return self.leaf(fresh.shape, fresh.element)
        raise Skip

    def init(self, shape, element, read):
        """What an op writes into: read says whether it reads that first."""
        kind = self.choices.below(4)
        if kind == 3:
            return self.tensor(element, shape)
        if kind == 2 and not read:
            return self.add(moving.empty(shape, element))
        if kind == 1:
            data = [self.number(element, 0)] * Value(shape, element).size()
            return self.add(constant(Value(shape, element, data)))
        filled = self.scalar(element, self.number(element, 0))
        return self.add(structured.fill(filled, self.add(moving.empty(shape, element))))

    # -- scalar code

    def unary_names(self, type_):
        table = elements.FLOAT_UNARY if elements.is_float(type_) else elements.INT_UNARY
        return [name for name in table if name not in self.excluded]

    def binary_names(self, type_):
        table = elements.FLOAT_BINARY if elements.is_float(type_) else elements.INT_BINARY
        return [name for name in table if name not in self.excluded]

    def code(self, body, want, slots):
        """Adds some instructions on the slots; a slot of the wanted type."""
        choices = self.choices
        for _ in range(choices.between(1, 4)):
            slot = choices.pick(slots[-4:] if choices.chance(50) else slots)
            type_ = body.types[slot]
            kind = choices.weighted([("binary", 45), ("unary", 25), ("select", 10), ("cast", 10), ("extract", 10)])
            if type_ == "index":
                slot = self.cast_in(body, slot, choices.pick(["i32", "i64"]))
            elif kind == "binary":
                slot = self.binary_in(body, slot, slots)
            elif kind == "unary":
                name = choices.pick(self.unary_names(type_))
                slot = body.add(type_, f"{name} {{0}} : {type_}", scalar_call(name, type_), slot)
            elif kind == "select":
                slot = self.select_in(body, slot, slots)
            elif kind == "cast":
                slot = self.cast_in(body, slot, self.element())
            elif "lookups" not in self.excluded:
                slot = self.extract_in(body, slots)
            slots.append(slot)
        return self.cast_in(body, slots[-1], want)

    def literal_in(self, body, type_, number):
        kind = "" if type_ == "i1" else f" : {type_}"
        return body.add(type_, f"arith.constant {literal(type_, number)}{kind}", lambda: number)

    def partner(self, body, slot, slots):
        type_ = body.types[slot]
        same = [s for s in slots if body.types[s] == type_]
        if self.choices.chance(70):
            return self.choices.pick(same)
        return self.literal_in(body, type_, self.number(type_, self.choices.below(2)))

    def binary_in(self, body, slot, slots):
        type_ = body.types[slot]
        name = self.choices.pick(self.binary_names(type_))
        other = self.partner(body, slot, slots)
        if name in elements.PARTIAL:
            # A divisor or a distance that is always allowed.
            w = elements.width(type_)
            if w < 4:
                name = "arith.xori"
            else:
                mask = self.literal_in(body, type_, 3)
                other = body.add(type_, f"arith.andi {{0}}, {{1}} : {type_}", lambda a, b: UNKNOWN if a is UNKNOWN else a & b, other, mask)
                if "sh" not in name:
                    one = self.literal_in(body, type_, 1)
                    other = body.add(type_, f"arith.ori {{0}}, {{1}} : {type_}", lambda a, b: UNKNOWN if a is UNKNOWN else a | b, other, one)
        return body.add(type_, f"{name} {{0}}, {{1}} : {type_}", scalar_call(name, type_), slot, other)

    def select_in(self, body, slot, slots):
        type_ = body.types[slot]
        other = self.partner(body, slot, slots)
        if elements.is_float(type_):
            predicate = self.choices.pick(["olt", "ogt", "oeq", "une", "ult", "oge", "ole", "ord", "uno"])
            flag = body.add("i1", f"arith.cmpf {predicate}, {{0}}, {{1}} : {type_}",
                            lambda a, b: elements.compare_floats(predicate, a, b), slot, other)
        else:
            predicate = self.choices.pick(["slt", "ult", "eq", "ne", "sge", "ugt"])
            flag = body.add("i1", f"arith.cmpi {predicate}, {{0}}, {{1}} : {type_}",
                            lambda a, b: elements.compare_ints(predicate, type_, a, b), slot, other)
        third = self.partner(body, slot, slots)
        return body.add(type_, f"arith.select {{0}}, {{1}}, {{2}} : {type_}", select, flag, slot, third)

    def cast_in(self, body, slot, target):
        source = body.types[slot]
        if source == target:
            return slot
        for name, type_ in self.conversions(body, slot, source, target):
            slot = self.convert(body, slot, name, type_)
        return slot

    def convert(self, body, slot, name, type_):
        source = body.types[slot]
        if name in ("arith.fptosi", "arith.fptoui"):
            most = min(2.0 ** (elements.width(type_) - 1) - 1, 100.0)
            least = 0.0 if name == "arith.fptoui" else -most
            low, high = (self.literal_in(body, source, x) for x in (least, most))
            for op, bound in (("arith.maxnumf", low), ("arith.minnumf", high)):
                slot = body.add(source, f"{op} {{0}}, {{1}} : {source}", scalar_call(op, source), slot, bound)
        return body.add(type_, f"{name} {{0}} : {source} to {type_}",
                        lambda x: elements.cast(name, source, type_, x), slot)

    def conversions(self, body, slot, source, target):
        """Steps from one type to another."""
        pick = self.choices.pick
        float_source, float_target = elements.is_float(source), elements.is_float(target)
        if source == "index" or target == "index":
            steps = []
            if float_source:
                steps.append(("arith.fptosi", "i32"))
            elif float_target:
                return [("arith.index_cast", "i32"), ("arith.sitofp", target)]
            return steps + [(pick(["arith.index_cast", "arith.index_castui"]), target)]
        if float_source and float_target:
            narrow, wide = elements.width(source), elements.width(target)
            if narrow == wide:
                return [("arith.extf", "f32"), ("arith.truncf", target)]
            return [("arith.extf" if narrow < wide else "arith.truncf", target)]
        if float_source:
            if target == "i1":
                return [("arith.fptosi", "i8"), ("arith.trunci", "i1")]
            return [(pick(["arith.fptosi", "arith.fptoui"]), target)]
        if float_target:
            return [(pick(["arith.sitofp", "arith.uitofp"]), target)]
        if elements.width(source) < elements.width(target):
            return [(pick(["arith.extsi", "arith.extui"]), target)]
        return [("arith.trunci", target)]

    def extract_in(self, body, slots):
        """A lookup at computed indices; the remainder keeps them inside."""
        table = self.tensor(test=lambda v: len(v.shape) <= 3 and v.size() > 0)
        body.captured.append(table)
        number = len(body.captured) - 1
        wanted = []
        for size in table.shape:
            slot = self.choices.pick(slots)
            if body.types[slot] != "index":
                slot = self.cast_in(body, slot, "i32")
                slot = self.convert(body, slot, "arith.index_castui", "index")
            limit = self.literal_in(body, "index", size)
            wanted.append(body.add("index", "arith.remui {0}, {1} : index", scalar_call("arith.remui", "index"), slot, limit))
        places = ", ".join("{%d}" % i for i in range(len(wanted)))

        def look(*index):
            if any(i is UNKNOWN for i in index):
                return UNKNOWN
            return body.data[number][moving.at(table.shape, index)]

        return body.add(table.element, f"tensor.extract {{c{number}}}[{places}] : {table.type()}", look, *wanted)


def select(flag, a, b):
    if flag is UNKNOWN:
        return a if a == b and a is not UNKNOWN else UNKNOWN
    return a if flag else b
