"""Judges planned programs from their text alone.

    check_kernels.py [--original=IN] [--budget=BYTES] [--count] [--layout] FILE

FILE ("-" is stdin) is MLIR in generic form, as `--ckpt-apply-plan
--mlir-print-op-generic` prints it. Checked is what docs/Rationale/MemoryModel.md
says, with no code of the project: dependences, the places of all values, the
arena, what kernels may hold, marks of recomputations, and, with --original, that
the kernels compute exactly what that program computes. --count prints figures,
--layout one line per kernel with its layer and places. Exit code 1 and one line
on stderr for the first rule that is broken.
"""

import argparse
import collections
import functools
import re
import sys

import dataflow
import generic_mlir

ALIGNMENT = 256
RESHAPES = ("tensor.expand_shape", "tensor.collapse_shape", "tensor.cast")
STRETCHES = RESHAPES + ("tensor.extract_slice",)
CONSTANTS = ("arith.constant", "tensor.empty")
CONCAT = "tensor.concat"


class Refused(Exception):
    """A broken rule; the message says where."""


def aligned(bytes_):
    return -(-bytes_ // ALIGNMENT) * ALIGNMENT


class Kernel:
    """One `ckpt.kernel` op, its attributes read."""

    def __init__(self, op, position):
        self.op, self.position = op, position
        self.where = f"kernel {position} (line {op.line})"
        read = op.attributes.get
        self.offsets = dataflow.integers(op.attributes["offsets"])
        self.bytes = dataflow.integers(op.attributes["bytes"])
        none = "array<i64: " + ", ".join(["-1"] * len(self.bytes)) + ">"
        self.hosts = dataflow.integers(read("hosts", none)) if self.bytes else []
        self.workspace_offset = int(read("workspace_offset", "-1").split()[0])
        self.workspace_bytes = int(read("workspace_bytes", "0").split()[0])
        self.layer = read("layer", '""').strip('"')
        self.recompute = read("recompute", "false") == "true"
        inputs, after = dataflow.integers(op.attributes["operandSegmentSizes"])
        if inputs + after != len(op.operands):
            raise Refused(f"{self.where}: operand segments do not sum up")
        self.inputs, self.after = op.operands[:inputs], op.operands[inputs:]
        if not op.regions[0].ops or op.regions[0].ops[-1].name != "ckpt.yield":
            raise Refused(f"{self.where}: the body does not end with a yield")
        self.arguments = op.regions[0].arguments
        self.body = op.regions[0].ops[:-1]
        self.terminator = op.regions[0].ops[-1]

    def check_form(self):
        op = self.op
        if not len(self.offsets) == len(self.bytes) == len(self.hosts) == len(op.results):
            raise Refused(f"{self.where}: not one offset, host and size per result")
        for offset, bytes_, type_ in zip(self.offsets, self.bytes, op.result_types):
            if offset > 0 and offset % ALIGNMENT:
                raise Refused(f"{self.where}: offset {offset} is not aligned")
            if bytes_ < dataflow.type_bytes(type_):
                raise Refused(f"{self.where}: {bytes_} bytes are too few for {type_}")
        if self.workspace_bytes and (
            self.workspace_offset < 0 or self.workspace_offset % ALIGNMENT
        ):
            raise Refused(f"{self.where}: the workspace is not aligned")
        types = tuple(type_ for _, type_ in self.arguments)
        if types != op.operand_types[: len(self.inputs)]:
            raise Refused(f"{self.where}: the body's arguments are not the inputs")
        if self.terminator.operand_types != op.result_types:
            raise Refused(f"{self.where}: the body does not yield the results")
        if sum(dataflow.is_anchor(inner) for inner in self.body) > 1:
            raise Refused(f"{self.where}: holds more than one anchor")

    def may_overwrite(self, value, result):
        """Whether result number `result` may be written over input `value`: no
        other element of the input is read once an element is written."""
        places = {}
        for (name, type_), input_ in zip(self.arguments, self.inputs):
            if input_ == value:
                source = dataflow.shape_and_element(type_)
                places[name] = source[0] if source else dataflow.ELSEWHERE
        for inner in self.body:
            dataflow.read_places(inner, places)
        target = dataflow.shape_and_element(self.op.result_types[result])
        if not source or not target or not same_storage(source, target):
            return False
        for yielded, type_ in zip(self.terminator.operands, self.op.result_types):
            shape = dataflow.shape_and_element(type_)
            if places.get(yielded, shape[0]) != shape[0]:
                return False
        return True


def same_storage(source, target):
    """Whether two (shape, element) have elements of one width, equally many."""
    counts = []
    for shape, _ in (source, target):
        counts.append(1)
        for size in shape:
            counts[-1] *= size
    bits = [dataflow.element_bits(element) for _, element in (source, target)]
    return counts[0] == counts[1] and bits[0] == bits[1]


class Place:
    """A stretch of the arena (or of a part of the function's results),
    from one kernel to another, both inclusive. No kernel makes an argument."""

    def __init__(self, name, kernel, offset, bytes_, buffer=None):
        self.name, self.kernel, self.buffer = name, kernel, buffer
        self.begin, self.end = offset, offset + bytes_
        self.last = kernel.position if kernel else -1
        self.taken_over = False

    def overlaps(self, other):
        return (
            self.buffer == other.buffer
            and self.begin < other.end
            and other.begin < self.end
        )

    def __str__(self):
        return f"{self.name} at [{self.begin}, {self.end})"


class Program:
    """A function of kernels."""

    def __init__(self, function):
        self.function = function
        self.arena = function.attributes.get("ckpt.arena_bytes")
        self.kernels = []
        self.outside = []
        for op in function.regions[0].ops:
            if op.name == "ckpt.kernel":
                self.kernels.append(Kernel(op, len(self.kernels)))
            else:
                self.outside.append(op)
        self.parts = self.parts_of(self.outside[-1])
        self.arena_bytes = int(self.arena.split()[0]) if self.arena else 0

    def parts_of(self, op):
        """Names and types of the values that the results consist of, in order,
        each with the number of the result."""
        makers = {name: op for op in self.outside for name in op.results}
        parts = []

        def add(name, type_, result):
            maker, source = makers.get(name), name
            while maker and maker.name in RESHAPES:
                source = maker.operands[0]
                maker = makers.get(source)
            if maker and maker.name == CONCAT:
                for operand in zip(maker.operands, maker.operand_types):
                    add(*operand, result)
            else:
                parts.append((name, type_, result))

        for result, operand in enumerate(zip(op.operands, op.operand_types)):
            add(*operand, result)
        return parts

    def check(self, budget):
        """Everything that needs no original."""
        for op in self.outside[:-1]:
            if op.name not in STRETCHES + CONSTANTS + (CONCAT,):
                raise Refused(f"line {op.line}: '{op.name}' stands in no kernel")
        for kernel in self.kernels:
            kernel.check_form()
        if not self.arena:
            raise Refused("the function does not say how large its arena is")
        if budget is not None and self.arena_bytes > budget:
            raise Refused(f"arena of {self.arena_bytes} bytes, budget {budget}")
        self.live_peak_bytes = self.check_places(self.live_ranges())

    def live_ranges(self):
        """Places of all results by name, each with its last reader. What has a
        host is in that part of the function's results."""
        places, source, numbers = {}, {}, {}
        for op in self.function.regions[0].ops:
            if op.name in STRETCHES:
                source[op.results[0]] = source.get(op.operands[0], op.operands[0])
        for number, (name, _, _) in enumerate(self.parts):
            numbers.setdefault(source.get(name, name), number)
        returned = numbers
        for place in self.donated_arguments():
            places[place.name] = place
        for kernel in self.kernels:
            for name in kernel.inputs + kernel.after:
                place = places.get(source.get(name, name))
                if place:
                    place.last = kernel.position
            for name, offset, host, bytes_ in zip(
                kernel.op.results, kernel.offsets, kernel.hosts, kernel.bytes
            ):
                if offset >= 0:
                    buffer = None if host < 0 else host
                    places[name] = Place(name, kernel, offset, bytes_, buffer)
                elif name in numbers:
                    places[name] = Place(name, kernel, 0, bytes_, numbers[name])
                    places[name].last = len(self.kernels)
                if (offset == -1) != (name in returned):
                    raise Refused(
                        f"{kernel.where}: {name} lies at {offset}, but only what is "
                        "returned lies in the caller's buffers, at -1"
                    )
        return places

    def donated_arguments(self):
        """Arguments that lie in the buffers of results."""
        attributes = self.function.attributes.get("arg_attrs", "")
        donated = []
        for (name, type_), text in zip(
            self.function.regions[0].arguments, re.findall(r"{[^{}]*}", attributes)
        ):
            result = re.search(r"ckpt\.donated = (\d+)", text)
            if result:
                parts = [i for i, part in enumerate(self.parts) if part[2] == int(result[1])]
                bytes_ = dataflow.type_bytes(type_)
                if len(parts) != 1 or dataflow.type_bytes(self.parts[parts[0]][1]) != bytes_:
                    raise Refused(f"{name} is donated to what is no value as large")
                donated.append(Place(name, None, 0, bytes_, parts[0]))
        return donated

    def check_places(self, places):
        """Plays the kernels; returns the largest sum of live bytes."""
        live, peak = [place for place in places.values() if not place.kernel], 0
        for kernel in self.kernels:
            live = [p for p in live if p.last >= kernel.position]
            new = [places[name] for name in kernel.op.results if name in places]
            if kernel.workspace_bytes:
                name = "the workspace"
                new.append(
                    Place(name, kernel, kernel.workspace_offset, kernel.workspace_bytes)
                )
            for place in new:
                if place.buffer is not None:
                    self.check_host(place)
                elif place.end > self.arena_bytes:
                    raise Refused(f"{kernel.where}: {place} ends beyond the arena")
                for other in live:
                    if place.overlaps(other):
                        self.check_takeover(place, other)
                live.append(place)
            standing = [p for p in live if not p.taken_over]
            peak = max(
                peak,
                sum(aligned(p.end - p.begin) for p in standing if p.buffer is None),
            )
            live = standing
        return peak

    def check_host(self, place):
        """The function has the part in whose buffer `place` lies."""
        if (
            place.buffer >= len(self.parts)
            or dataflow.type_bytes(self.parts[place.buffer][1]) < place.end
        ):
            raise Refused(
                f"{place.kernel.where}: {place} does not fit part {place.buffer} of "
                "the results"
            )

    def check_takeover(self, place, other):
        """`place` overlaps `other`, which its kernel may still need."""
        kernel = place.kernel
        overlap = f"{kernel.where}: {place} overlaps {other}"
        if other.kernel is kernel:
            raise Refused(f"{overlap} of the same kernel")
        if place.name not in kernel.op.results or other.name not in kernel.inputs:
            raise Refused(f"{overlap}, which is no input of it")
        if other.last > kernel.position:
            raise Refused(f"{overlap}, which is read later")
        if other.taken_over:
            raise Refused(f"{overlap}, which is taken over already")
        if place.begin != other.begin or place.end > other.end:
            raise Refused(f"{overlap}, but is not in its place")
        if not kernel.may_overwrite(other.name, kernel.op.results.index(place.name)):
            raise Refused(f"{overlap}, and writes it before it has read it")
        other.taken_over = True


class Meaning:
    """The dataflow of a function, with every op numbered."""

    def __init__(self, numbering, function):
        self.numbering = numbering
        self.ops = collections.Counter()
        self.values = collections.Counter()
        self.effects = []
        self.function = function
        self.scope = {}
        self.kernels = []
        for i, (name, _) in enumerate(function.regions[0].arguments):
            self.scope[name] = numbering.argument(i)
        for op in dataflow.flat_ops(function.regions[0].ops, self.scope):
            if op.name == "ckpt.kernel":
                self.kernel(op)
            elif op.name == "func.return":
                self.returned = numbering.operands(op, self.scope)
            else:
                self.count(op, self.scope)

    def count(self, op, scope):
        number = self.numbering.op(op, scope)
        self.ops[number] += 1
        self.values.update(scope[result] for result in op.results)
        if not op.results:
            self.effects.append(number)
        return number

    def kernel(self, op):
        """Numbers the body with the inputs in the place of its arguments."""
        operands = self.numbering.operands(op, self.scope)
        body = op.regions[0]
        inside = {name: n for (name, _), n in zip(body.arguments, operands)}
        made = [(self.count(inner, inside), inner) for inner in body.ops[:-1]]
        yielded = self.numbering.operands(body.ops[-1], inside)
        self.scope.update(zip(op.results, yielded))
        self.kernels.append((made, yielded))


def check_meaning(meaning, original):
    """Every op in kernels is one of the original, and the results are equal."""
    for position, (made, _) in enumerate(meaning.kernels):
        for number, op in made:
            if number not in original.ops:
                raise Refused(
                    f"kernel {position} (line {op.line}): the original has no such '{op.name}'"
                )
    if len(meaning.returned) != len(original.returned):
        raise Refused("another number of results than the original")
    for i, (ours, theirs) in enumerate(zip(meaning.returned, original.returned)):
        if ours != theirs:
            raise Refused(f"result {i} is not that of the original")
    if meaning.effects != original.effects:
        raise Refused("ops with effects do not run once each, in their order")


def check_marks(program, meaning, original):
    """What is made again (a value in memory, or an anchor's work) is marked,
    waits for the backward pass, and cannot be merged with what made it first."""
    first, unmarked, signatures = {}, collections.Counter(), set()
    position = {}
    for kernel, (made, yielded) in zip(program.kernels, meaning.kernels):
        anchors = [number for number, op in made if dataflow.is_anchor(op)]
        work = {*yielded, *anchors}
        earlier = [first[number] for number in work if number in first]
        # Where nothing else lives past it, what it reads keeps it in its place.
        waits = [position.get(name, -1) for name in kernel.after or kernel.inputs]
        if kernel.recompute and not earlier:
            raise Refused(f"{kernel.where}: is marked, but makes nothing again")
        if kernel.recompute and max(waits, default=-1) <= min(earlier):
            raise Refused(f"{kernel.where}: waits for nothing younger than its original")
        if kernel.after and not kernel.recompute:
            raise Refused(f"{kernel.where}: waits, but is not marked")
        if not kernel.recompute and original:
            unmarked.update(work)
            if any(unmarked[n] > max(original.values[n], original.ops[n]) for n in work):
                raise Refused(f"{kernel.where}: makes something again, but is not marked")
        signature = tuple(kernel.inputs), tuple(kernel.after), yielded
        if kernel.recompute and signature in signatures:
            raise Refused(f"{kernel.where}: could be merged with an earlier kernel")
        signatures.add(signature)
        position.update((name, kernel.position) for name in kernel.op.results)
        for number in work:
            first.setdefault(number, kernel.position)


@functools.cache
def functions(text):
    """Functions with a body, by name. Tests judge many plans of one program, and many pipelines
    leave one text."""
    ops = generic_mlir.read(text)
    while ops and ops[0].name == "builtin.module":
        ops = ops[0].regions[0].ops
    return {
        op.attributes["sym_name"]: op
        for op in ops
        if op.name == "func.func" and op.regions[0].ops
    }


def judge(text, original=None, budget=None):
    """Checks every function of `text`; returns its programs. Functions without
    kernels are compared with the original, if there is one."""
    originals = functions(original) if original else {}
    programs = []
    for name, function in functions(text).items():
        program, numbering = Program(function), dataflow.Numbering()
        wanted = None
        if original:
            if name not in originals:
                raise Refused(f"the original has no function {name}")
            wanted = Meaning(numbering, originals[name])
        meaning = Meaning(numbering, function)
        if program.kernels:
            program.check(budget)
        if wanted:
            check_meaning(meaning, wanted)
        check_marks(program, meaning, wanted)
        programs.append(program)
    return programs


def count_anchors(program):
    """How often each kind of anchor runs, in kernels and outside."""
    pending = [program.outside] + [kernel.body for kernel in program.kernels]
    anchors = collections.Counter()
    for ops in pending:
        anchors.update(op.name for op in ops if dataflow.is_anchor(op))
        pending += [op.regions[0].ops for op in ops if op.name == "ckpt.layer"]
    return anchors


def print_counts(program):
    """Figures, one per line, also for a program without kernels."""
    barriers = sum(op.name == "ckpt.barrier" for op in program.outside)
    print(f"kernels: {len(program.kernels)}")
    print(f"recomputations: {sum(k.recompute for k in program.kernels)}")
    print(f"barriers: {barriers}")
    if program.kernels:
        print(f"live_peak_bytes: {program.live_peak_bytes}")
        print(f"arena_bytes: {program.arena_bytes}")
    for name, count in sorted(count_anchors(program).items()):
        print(f"executed {name}: {count}")


def layout(program):
    """One line per kernel, in order: layer, places, mark."""
    lines = []
    for kernel in program.kernels:
        places = zip(kernel.offsets, kernel.hosts, kernel.bytes)
        slots = ", ".join(f"{o} : {b}" if h < 0 else f"{o} of {h} : {b}" for o, h, b in places)
        workspace = f"{kernel.workspace_offset} : {kernel.workspace_bytes}"
        mark = " recompute" if kernel.recompute else ""
        lines.append(f'"{kernel.layer}" [{slots}] workspace [{workspace}]{mark}')
    return lines + [f"arena {program.arena_bytes}"]


def read_file(path):
    if path == "-":
        return sys.stdin.read()
    with open(path, encoding="utf-8") as file:
        return file.read()


def run(arguments):
    original = read_file(arguments.original) if arguments.original else None
    programs = judge(read_file(arguments.file), original, arguments.budget)
    if not (arguments.count or any(program.kernels for program in programs)):
        raise Refused("there are no kernels")
    for program in programs:
        if arguments.count:
            print_counts(program)
        if arguments.layout:
            print("\n".join(layout(program)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file")
    parser.add_argument("--original")
    parser.add_argument("--budget", type=int)
    parser.add_argument("--count", action="store_true")
    parser.add_argument("--layout", action="store_true")
    try:
        run(parser.parse_args())
    except (Refused, generic_mlir.Malformed) as error:
        sys.exit(f"check_kernels: {error}")
    except dataflow.UndefinedValue as error:
        name, op = error.args
        sys.exit(f"check_kernels: line {op.line}: {name} is not defined before its use")


if __name__ == "__main__":
    main()
