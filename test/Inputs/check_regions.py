"""Plans a model under budgets of regions and reads from the text of the rewritten
program what each region takes at every kernel.

A region is the layers whose names match a pattern (Python's fnmatch), as they
stand in the original. Its bytes are the places in the arena of values that its
ops make, each from its kernel to its last reader; a place that one value takes
over from another counts once. A value that ops outside make as well is counted
for neither.
"""

import contextlib
import fnmatch
import os
import re
import sys
import tempfile

import check_kernels
import dataflow
import generic_mlir
import planned


def layered_ops(ops, layer=None):
    """Ops of a block with the name of the innermost layer around each."""
    for op in ops:
        if op.name == "ckpt.layer":
            name = op.attributes["name"].strip('"')
            yield from layered_ops(op.regions[0].ops, name)
        else:
            yield op, layer


def only_function(text):
    """The one function of a module in generic form."""
    (module,) = generic_mlir.read(text)
    (function,) = [op for op in module.regions[0].ops if op.name == "func.func"]
    return function


class Layers:
    """Of an original: the numbers of the values that each layer makes."""

    def __init__(self, text, numbering):
        function = only_function(text)
        scope = check_kernels.Meaning(numbering, function).scope
        self.made = {}
        for op, layer in layered_ops(function.regions[0].ops):
            for result in op.results:
                if result in scope:
                    self.made.setdefault(layer, set()).add(scope[result])

    def region(self, pattern):
        """What only layers that match make."""
        inside, outside = set(), set()
        for name, made in self.made.items():
            matches = name is not None and fnmatch.fnmatchcase(name, pattern)
            (inside if matches else outside).update(made)
        return inside - outside


def region_bytes(text, numbering, members):
    """Bytes of a region at each kernel of a rewritten program."""
    function = only_function(text)
    program = check_kernels.Program(function)
    scope = check_kernels.Meaning(numbering, function).scope
    places = [
        place
        for name, place in program.live_ranges().items()
        if place.kernel and place.buffer is None and scope[name] in members
    ]
    bytes_ = []
    for kernel in program.kernels:
        at = kernel.position
        standing = {
            place.begin: check_kernels.aligned(place.end - place.begin)
            for place in places
            if place.kernel.position <= at <= place.last
        }
        bytes_.append(sum(standing.values()))
    return bytes_


@contextlib.contextmanager
def formed(model):
    """The path of the model with layers."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "layered.mlir")
        with open(path, "w", encoding="utf-8") as file:
            file.write(planned.expect_text("--ckpt-form-layers", model))
        yield path


class Model:
    """A layered program, plans of which are compared."""

    def __init__(self, path):
        self.path = path
        self.numbering = dataflow.Numbering()
        text = planned.expect_text("--ckpt-prepare", planned.GENERIC, path)
        self.layers = Layers(text, self.numbering)

    def plan(self, options):
        """The text of the rewritten program and its figures, checked."""
        text, figures = planned.expect_plan(self.path, options)
        planned.judge(text)
        return text, figures

    def bytes_of(self, text, pattern):
        return region_bytes(text, self.numbering, self.layers.region(pattern))


# The search of regions divides its effort among rounds of searches.
planned.EFFORT = "effort=1500"
WITHIN = "budget={}%"
PIN = "ckpt.pin = #ckpt.pin<recompute>"


def check_kept(model, pattern, share, budget):
    """Plans with `share` percent of what the region takes without a limit, within
    `budget` percent for the whole, and returns the figures."""
    unlimited, _ = model.plan("strategy=none")
    whole = max(model.bytes_of(unlimited, pattern))
    limit = whole * share // 100
    options = f"{WITHIN.format(budget)} region-budget={pattern}={share}%"
    text, figures = model.plan(options)
    taken = model.bytes_of(text, pattern)
    print(f"{options}: {max(taken)} of {limit} bytes, {whole} without a limit")
    for kernel, bytes_ in enumerate(taken):
        if bytes_ > limit:
            raise planned.Failed(f"{options}: kernel {kernel} has {bytes_} of {limit} bytes")
    if not max(taken):
        raise planned.Failed(f"{options}: the region takes nothing")
    return options, limit, figures["cost_ns"]


def pinned_by_hand(path, options, pattern):
    """The program with pins on the ops of a region that its plan runs again. What
    else the plan wrote says nothing to the next one."""
    text = planned.expect_text(f"--ckpt-plan={options} {planned.EFFORT} quiet=true", path)
    text = re.sub(r"(, )?ckpt\.region_budgets = {[^}]*}", "", text)
    lines, layer = [], ""
    for line in text.splitlines(keepends=True):
        opened = re.search(r'ckpt\.layer "([^"]*)"', line)
        layer = opened[1] if opened else "" if line.startswith("    }") else layer
        if fnmatch.fnmatchcase(layer, pattern):
            line = line.replace("ckpt.decision = #ckpt.decision<recompute>", PIN)
        lines.append(line)
    if not any(PIN in line for line in lines):
        raise planned.Failed(f"{options}: makes nothing of the region again")
    return "".join(lines)


def check_price(model, pattern, budget, kept):
    """No plan with pins by hand keeps the region at less cost: with pins on all of
    its layers, and on the values that our plan makes again."""
    options, limit, ours = kept
    by_hand = os.path.join(os.path.dirname(model.path), "pinned.mlir")
    with open(by_hand, "w", encoding="utf-8") as file:
        file.write(pinned_by_hand(model.path, options, pattern))
    within = WITHIN.format(budget)
    for what, path, pins in (
        ("layers", model.path, f"{within} pin={pattern}=recompute"),
        ("values", by_hand, within),
    ):
        text, figures = planned.expect_plan(path, pins)
        taken, cost = max(model.bytes_of(text, pattern)), figures["cost_ns"]
        print(f"{ours} ns; with pins on {what} {cost} ns and {taken} bytes")
        if taken <= limit and cost < ours:
            raise planned.Failed(f"{options}: costs more than pins on {what}")


def main(path, pattern, share, budget):
    with formed(path) as layered:
        model = Model(layered)
        kept = check_kept(model, pattern, int(share), int(budget))
        check_price(model, pattern, int(budget), kept)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (planned.Failed, check_kernels.Refused) as error:
        sys.exit(str(error))
