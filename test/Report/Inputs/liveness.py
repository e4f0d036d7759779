"""Live bytes of a plan, computed from its text alone.

Knows the text formats of docs/PlanFormat.md and nothing of the tools. Bytes are
those of the union of all places that are in use: a place that is taken over
counts once because it lies in one spot.
"""

import collections
import re

SLOT = 256

Value = collections.namedtuple("Value", "bytes home name")
Op = collections.namedtuple("Op", "kind reads results flops workspace layer")
Kernel = collections.namedtuple("Kernel", "ops outputs workspace")
#: A value in memory: bytes of its slot, offset, first and last kernel.
Stay = collections.namedtuple("Stay", "value bytes offset first last again")


def plain(text):
    """A text without the quotes and escapes of the format."""
    if not text.startswith('"'):
        return text
    return re.sub(r"\\(.)", lambda match: {"n": "\n"}.get(match[1], match[1]), text[1:-1])


def numbers(text):
    return [int(word) for word in text.split(",")] if text else []


def fields(line):
    pattern = r'([-\w]+)(?:=("(?:[^"\\]|\\.)*"|\S+))?'
    return {match[1]: plain(match[2] or "") for match in re.finditer(pattern, line)}


class Problem:
    def __init__(self, text):
        self.values, self.ops, self.layers = [], [], []
        for line in text.splitlines():
            line = re.sub(r"(^|\s)//.*", "", line)
            found = fields(line)
            if line.startswith("value "):
                self.values.append(Value(int(found.get("bytes", 0)), found.get("home", "arena"),
                                         found.get("name", "")))
            elif line.startswith("op "):
                reads = [int(read.split(":")[0]) for read in found.get("reads", "").split(",")
                         if read]
                self.ops.append(Op(line.split()[2], reads, numbers(found.get("results", "")),
                                   int(found.get("flops", 0)), int(found.get("workspace", 0)),
                                   int(found.get("layer", -1))))
            elif line.startswith("layer="):
                self.layers.append(found["layer"])


def placed(output):
    """The value and its offset in the arena; -1 in the buffer of a result, which `/` names."""
    value, place = output.split("@")
    return int(value), -1 if "/" in place else int(place)


class Plan:
    """The kernels of a plan or of a plan file."""

    def __init__(self, text):
        self.kernels = []
        for line in text.splitlines():
            if not line.startswith("kernel "):
                continue
            found = fields(line.split(" //")[0])
            outputs = [placed(output) for output in found.get("outputs", "").split(",") if output]
            self.kernels.append(Kernel(numbers(found["ops"]), outputs,
                                       int(found.get("workspace", -1))))


def slot(size):
    return -(-size // SLOT) * SLOT


def stays(problem, plan):
    """Every instance of a value in the arena."""
    open_, done, seen = {}, [], set()
    for number, kernel in enumerate(plan.kernels):
        inside = {result for op in kernel.ops for result in problem.ops[op].results}
        for op in kernel.ops:
            for read in problem.ops[op].reads:
                if read not in inside and read in open_:
                    open_[read][3] = number
        for value, offset in kernel.outputs:
            if problem.values[value].home != "arena":
                continue
            if value in open_:
                done.append((value, *open_.pop(value)))
            if offset >= 0:
                open_[value] = [slot(problem.values[value].bytes), offset, number, number,
                                value in seen]
            seen.add(value)
    done += [(value, *rest) for value, rest in open_.items()]
    return [Stay(*each) for each in done]


def workspace(problem, kernel):
    """Bytes that a kernel takes while it runs."""
    if kernel.workspace < 0:
        return 0
    written = {value for value, _ in kernel.outputs}
    return slot(sum(problem.ops[op].workspace + sum(
        problem.values[result].bytes for result in problem.ops[op].results
        if problem.ops[op].kind == "opaque" and result not in written)
        for op in kernel.ops))


def live_bytes(problem, plan):
    """Bytes in use at each kernel."""
    spans = [[] for _ in plan.kernels]
    for stay in stays(problem, plan):
        for number in range(stay.first, stay.last + 1):
            spans[number].append((stay.offset, stay.offset + stay.bytes))
    totals = []
    for number, kernel in enumerate(plan.kernels):
        total, end = 0, 0
        for begin, stop in sorted(spans[number]):
            total += max(0, stop - max(begin, end))
            end = max(end, stop)
        totals.append(total + workspace(problem, kernel))
    return totals


def extra_flops(problem, plan):
    """FLOPs of anchors beyond their first run."""
    runs = collections.Counter(op for kernel in plan.kernels for op in kernel.ops)
    return sum((count - 1) * problem.ops[op].flops for op, count in runs.items()
               if problem.ops[op].kind not in ("fusible", "view"))
