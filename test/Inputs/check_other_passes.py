"""Runs MLIR's own passes over a planned file; kernels, order and places stay.

With --some as the first argument, only a few pipelines: for large files.
"""

import itertools
import sys

import check_kernels
import planned

PASSES = ("-canonicalize", "-cse", "-loop-invariant-code-motion", "-inline", "-symbol-dce")


def all_pipelines():
    """Every subset in one order, and every pair in the other order too."""
    for count in range(1, len(PASSES) + 1):
        yield from itertools.combinations(PASSES, count)
    for first, second in itertools.combinations(PASSES, 2):
        yield second, first


def some_pipelines():
    yield PASSES
    yield tuple(reversed(PASSES))
    yield "-cse", "-canonicalize", "-cse", "-canonicalize"


def check_other_passes(model, pipelines):
    text, _ = planned.expect_plan(model, "budget=40%")
    before = check_kernels.layout(planned.judge(text))
    count = 0
    for pipeline in pipelines():
        after = planned.expect_text(*pipeline, planned.GENERIC, text=text)
        if check_kernels.layout(planned.judge(after)) != before:
            raise planned.Failed(f"{' '.join(pipeline)} changes the kernels or their places")
        count += 1
    print(f"{len(before) - 1} kernels stay as they are under {count} pipelines")


some = "--some" in sys.argv
if some:
    sys.argv.remove("--some")
planned.main(
    lambda model: check_other_passes(model, some_pipelines if some else all_pipelines)
)
