"""Recomputations outlive CSE and canonicalization, in both forms of a program.

As kernels, CSE refuses to merge what differs in any attribute: so places, layers
and marks are made equal first, and only the `after` operands are left to tell a
recomputation from its original. Without those operands kernels do merge, which
shows that the test sees it. In the form for other compilers the barriers do the
same work.
"""

import re
import sys

import check_kernels
import planned

MERGING = ("-cse", "-canonicalize", "-cse")
HEAD = re.compile(
    r'"ckpt\.kernel"\(([^()]*)\) <\{(.*?operandSegmentSizes = array<i32: (\d+), (\d+)>.*?)\}>'
)


def without_marks(head):
    """The head of a kernel with places, layer and mark as in every other."""

    def constant(number):
        return lambda match: re.sub(r"-?\d+", number, match.group(1)) + match.group(2)

    head = re.sub(r"(?<= offsets = array<i64: )([-\d, ]*)(>)", constant("-1"), head)
    head = re.sub(r"(?<=<\{bytes = array<i64: )([-\d, ]*)(>)", constant("0"), head)
    head = re.sub(r"hosts = array<i64: [-\d, ]*>, ", "", head)
    head = re.sub(r"workspace_bytes = \d+", "workspace_bytes = 0", head)
    head = re.sub(r"workspace_offset = -?\d+", "workspace_offset = -1", head)
    head = re.sub(r'layer = "[^"]*"', 'layer = ""', head)
    return head.replace("recompute = false", "recompute = true")


def strip(text, drop_after):
    """Strips all kernels; drops what they wait for as well if `drop_after`."""
    lines = []
    open_kernel = None
    for line in text.split("\n"):
        head = HEAD.search(line)
        if head:
            inputs, after = int(head.group(3)), int(head.group(4))
            line = without_marks(line)
            open_kernel = (len(line) - len(line.lstrip()), inputs)
            if drop_after and after:
                kept = ", ".join(head.group(1).split(", ")[:inputs])
                line = line.replace(f'"ckpt.kernel"({head.group(1)})', f'"ckpt.kernel"({kept})')
                line = line.replace(f"array<i32: {inputs}, {after}>", f"array<i32: {inputs}, 0>")
        elif open_kernel and line.startswith(" " * open_kernel[0] + "}) : ("):
            if drop_after:
                indent, inputs = open_kernel
                types, results = re.fullmatch(r" *\}\) : \((.*?)\) -> (.*)", line).groups()
                line = f"{' ' * indent}}}) : ({', '.join(types.split(', ')[:inputs])}) -> {results}"
            open_kernel = None
        lines.append(line)
    return "\n".join(lines)


def merged(text, *passes):
    """(kernels, anchors that run) after merging."""
    text = planned.expect_text(*passes, *MERGING, planned.GENERIC, text=text)
    functions = check_kernels.functions(text).values()
    (program,) = (check_kernels.Program(function) for function in functions)
    return len(program.kernels), check_kernels.count_anchors(program)


def check_recomputations(model):
    # In the arena alone, bounds prove that every plan of these models recomputes.
    text, _ = planned.expect_plan(model, "budget=55% scratch-in-results=false")
    program = planned.judge(text)
    anchors = check_kernels.count_anchors(program)
    if not any(kernel.recompute for kernel in program.kernels):
        raise planned.Failed("expected recomputations at this budget, but got none")
    kernels, kept = merged(strip(text, drop_after=False))
    if kept != anchors or kernels != len(program.kernels):
        raise planned.Failed(f"CSE leaves {kernels} kernels with {dict(kept)}, not {dict(anchors)}")
    fewer, _ = merged(strip(text, drop_after=True))
    _, kept = merged(text, "--ckpt-kernels-to-barriers")
    if kept != anchors:
        raise planned.Failed(f"barriers keep {dict(kept)}, not {dict(anchors)}")
    print(f"{kernels} kernels stay; {fewer} would without what they wait for")
    would_merge.append(kernels - fewer)


# A recomputation often reads or writes something else than its original, and
# could not merge with it anyway; in some model one could.
would_merge = []
planned.main(check_recomputations)
if not any(would_merge):
    sys.exit("nothing merges without the 'after' operands: the test is blind")
