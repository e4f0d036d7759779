"""Makes a failing program smaller while it fails in the same way."""
from choices import Choices
from elements import Undefined
from maker import ODD_INTS
from program import constant


def shrink(program, fails, make):
    """make builds a program from choices. First fewer and smaller choices, then fewer
    ops: the results of an op become arguments."""
    choices = getattr(program, "choices", None)
    if choices:
        program = shrink_choices(program, choices, fails, make)
    return shrink_ops(program, fails)


def attempt(fails, build):
    try:
        candidate = build()
        candidate.evaluate()
        return candidate if fails(candidate) else None
    except (Undefined, KeyError, IndexError, ValueError, OverflowError, AssertionError):
        return None


def shrink_choices(best, choices, fails, make):
    taken, starts = choices.taken, choices.starts

    def replay(edited):
        source = Choices(replay=edited)
        candidate = make(source)
        candidate.choices = source
        return candidate

    # Whole ops, the last first; the part behind the last start chooses results.
    for _ in range(3):
        before = len(taken)
        for number in reversed(range(len(starts) - 1)):
            edited = taken[:starts[number]] + taken[starts[number + 1]:]
            # One op less: the count stands before the first op.
            edited[starts[0] - 1] = max(0, taken[starts[0] - 1] - 1)
            found = attempt(fails, lambda: replay(edited))
            if found:
                best, taken, starts = found, found.choices.taken, found.choices.starts
        if len(taken) == before:
            break
    for place in range(min(3, len(taken))):
        for smaller in range(taken[place]):
            edited = [*taken[:place], smaller, *taken[place + 1:]]
            found = attempt(fails, lambda: replay(edited))
            if found:
                best, taken, starts = found, found.choices.taken, found.choices.starts
                break
    return best


def shrink_ops(best, fails):
    """Fewer ways, results and ops."""
    changed = True
    while changed:
        changed = False
        for edit in edits(best):
            found = attempt(fails, lambda: edited_copy(best, edit))
            if found:
                best, changed = found, True
                break
    return best


def edits(program):
    ways = program.ways.split()
    if not program.lean:
        yield "lean", 0
    yield from (("way", i) for i in range(1, len(ways)))
    if len(program.returned) > 1:
        yield from (("result", i) for i in range(len(program.returned)))
    yield from (("op", i) for i in reversed(range(len(program.ops))))


def edited_copy(program, edit):
    copy = type(program)()
    copy.arguments, copy.ops, copy.returned = program.arguments[:], program.ops[:], program.returned[:]
    ways, (what, i) = program.ways.split(), edit
    copy.lean = program.lean or what == "lean"
    if what == "lean":
        copy.ops = [op.lean() for op in copy.ops]
    if what == "way":
        del ways[i]
    elif what == "result":
        del copy.returned[i]
    elif what == "op":
        op = copy.ops.pop(i)
        used = {v for each in copy.ops for v in each.operands} | set(copy.returned)
        for value in op.results:
            if value not in used:
                continue
            if any(x is None or isinstance(x, tuple) for x in value.data):
                raise ValueError
            if value.shape is None or value.element in ODD_INTS + ["index"]:
                if constant(value).lines(CONSTANT_NAMES) == op.lines(CONSTANT_NAMES):
                    raise ValueError
                copy.ops.insert(i, constant(value))
            else:
                copy.arguments.append(value)
    copy.ways = " ".join(ways)
    return copy.without_dead_arguments()


class Same(dict):
    lean = False

    def __missing__(self, value):
        return "%x"


CONSTANT_NAMES = Same()
