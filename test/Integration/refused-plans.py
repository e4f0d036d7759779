# RUN: %python %s %S/../Inputs
"""The checker of planned programs refuses what it should: one broken rule each.

A small program with one recomputation and one takeover is accepted; every
mutation of its text is refused, with the reason that belongs to it.
"""

import sys
import unittest

sys.path.insert(0, sys.argv.pop())
import check_kernels
import dataflow
import generic_mlir

TENSOR = "tensor<8x8xf32>"
MAPS = "affine_map<(d0, d1, d2) -> (d0, d2)>, #b, affine_map<(d0, d1, d2) -> (d0, d1)>"
HEADER = "#b = affine_map<(d0, d1, d2) -> (d2, d1)>\n#loc = loc(unknown)\n"


def unary(name, result, operand):
    return f'{result} = "{name}"({operand}) : ({TENSOR}) -> {TENSOR} loc(#loc)\n'


def binary(name, result, left, right):
    return (
        f'{result} = "{name}"({left}, {right}) <{{fastmath = #arith.fastmath<none>}}>'
        f" : ({TENSOR}, {TENSOR}) -> {TENSOR}\n"
    )


def matmul(result, left, right, suffix=""):
    zero, empty, init = (name + suffix for name in ("%zero", "%empty", "%init"))
    return f"""
{zero} = "arith.constant"() <{{value = 0.000000e+00 : f32}}> : () -> f32
{empty} = "tensor.empty"() : () -> {TENSOR}
{init} = "linalg.fill"({zero}, {empty}) <{{operandSegmentSizes = array<i32: 1, 1>}}> ({{
^bb0(%in: f32, %out: f32 loc("an \\"odd\\" (name")):
  "linalg.yield"(%in) : (f32) -> ()
}}) : (f32, {TENSOR}) -> {TENSOR}
{result} = "linalg.matmul"({left}, {right}, {init}) <{{indexing_maps = [{MAPS}], operandSegmentSizes = array<i32: 2, 1>}}> ({{
^bb0(%p: f32, %q: f32, %sum: f32):
  %product = "arith.mulf"(%p, %q) <{{fastmath = #arith.fastmath<none>}}> : (f32, f32) -> f32
  %next = "arith.addf"(%sum, %product) <{{fastmath = #arith.fastmath<none>}}> : (f32, f32) -> f32
  "linalg.yield"(%next) : (f32) -> ()
}}) : ({TENSOR}, {TENSOR}, {TENSOR}) -> {TENSOR}
"""


def function(body, attributes=""):
    return f"""{HEADER}"builtin.module"() ({{
"func.func"() <{{function_type = ({TENSOR}, {TENSOR}) -> {TENSOR}, sym_name = "main"}}> ({{
^bb0(%x: {TENSOR}, %w: {TENSOR}):
{body}"func.return"(%r) : ({TENSOR}) -> ()
}}) {attributes}: () -> () loc(#loc)
}}) : () -> () loc(#loc)
"""


ORIGINAL = function(
    unary("math.exp", "%a", "%x")
    + matmul("%m", "%a", "%w")
    + unary("math.tanh", "%h", "%m")
    + matmul("%n", "%h", "%w", "2")
    + binary("arith.mulf", "%g", "%n", "%m")
    + binary("arith.addf", "%r", "%g", "%a")
)


def kernel(result, offset, inputs, body, after=()):
    operands = ", ".join([*inputs, *after])
    types = ", ".join([TENSOR] * (len(inputs) + len(after)))
    arguments = ", ".join(f"%{i}: {TENSOR}" for i in range(len(inputs)))
    return f"""{result} = "ckpt.kernel"({operands}) <{{bytes = array<i64: 256>, layer = "l{result[1:]}", offsets = array<i64: {offset}>, operandSegmentSizes = array<i32: {len(inputs)}, {len(after)}>, recompute = {str(bool(after)).lower()}, workspace_bytes = 0 : i64, workspace_offset = -1 : i64}}> ({{
^bb0({arguments}):
{body}"ckpt.yield"(%y) : ({TENSOR}) -> ()
}}) : ({types}) -> {TENSOR}
"""


A = kernel("%a", 0, ["%x"], unary("math.exp", "%y", "%0"))
M = kernel("%m", 256, ["%a", "%w"], matmul("%y", "%0", "%1"))
H = kernel("%h", 0, ["%m"], unary("math.tanh", "%y", "%0"))
N = kernel("%n", 512, ["%h", "%w"], matmul("%y", "%0", "%1"))
G = kernel("%g", 512, ["%n", "%m"], binary("arith.mulf", "%y", "%0", "%1"))
AGAIN = kernel("%again", 0, ["%x"], unary("math.exp", "%y", "%0"), ["%g"])
R = kernel("%r", -1, ["%g", "%again"], binary("arith.addf", "%y", "%0", "%1"))


PLAN = {"a": A, "m": M, "h": H, "n": N, "g": G, "again": AGAIN, "r": R}


def replaced(text, old, new):
    """Replaces what has to be there exactly once."""
    assert text.count(old) == 1, (text.count(old), old)
    return text.replace(old, new)


def moved(text, old, new):
    return replaced(text, f"offsets = array<i64: {old}>", f"offsets = array<i64: {new}>")


def resized(text, bytes_):
    return replaced(text, "bytes = array<i64: 256>", f"bytes = array<i64: {bytes_}>")


def with_workspace(text, offset, bytes_):
    text = replaced(text, "workspace_bytes = 0", f"workspace_bytes = {bytes_}")
    return replaced(text, "workspace_offset = -1", f"workspace_offset = {offset}")


def planned(arena=768, **changed):
    """The plan as text, some kernels replaced."""
    body = "".join({**PLAN, **changed}.values())
    return function(body, f"{{ckpt.arena_bytes = {arena} : i64}} ")


class CheckKernels(unittest.TestCase):
    def accepts(self, text, budget=1024):
        return check_kernels.judge(text, ORIGINAL, budget)[0]

    def refuses(self, reason, budget=1024, **changed):
        with self.assertRaisesRegex(check_kernels.Refused, reason):
            self.accepts(planned(**changed), budget)

    def refuses_undefined(self, **changed):
        with self.assertRaises(dataflow.UndefinedValue):
            self.accepts(planned(**changed))

    def test_accepts_the_plan(self):
        program = self.accepts(planned())
        self.assertEqual(program.live_peak_bytes, 768)
        self.assertEqual(check_kernels.count_anchors(program), {"linalg.matmul": 2})
        lines = check_kernels.layout(program)
        self.assertEqual(lines[5], '"lagain" [0 : 256] workspace [-1 : 0] recompute')
        self.assertEqual(lines[7], "arena 768")

    def test_accepts_the_original_itself(self):
        self.accepts(ORIGINAL)

    def test_accepts_the_other_takeover(self):
        self.accepts(planned(g=moved(G, 512, 256)))

    def test_accepts_a_workspace(self):
        self.accepts(planned(again=with_workspace(AGAIN, 256, 8)))

    def test_swapped_order(self):
        self.refuses_undefined(h=N, n=H)
        self.refuses_undefined(g=AGAIN, again=G)

    def test_name_of_another_region(self):
        self.refuses_undefined(h=replaced(H, '"(%0)', '"(%a)'))

    def test_overlap(self):
        self.refuses("which is read later", h=moved(H, 0, 256))
        self.refuses("which is no input", again=moved(AGAIN, 0, 512))

    def test_overlap_at_its_end(self):
        self.refuses("which is read later", h=resized(H, 257))

    def test_takeover_out_of_place(self):
        self.refuses("not in its place", arena=1024, g=resized(G, 512))

    def test_takeover_by_a_contraction(self):
        self.refuses(
            "before it has read", m=moved(M, 256, 0), h=moved(H, 0, 256), n=moved(N, 512, 512)
        )

    def test_takeover_twice(self):
        both = replaced(G, "%g = ", "%g:2 = ")
        both = replaced(both, "bytes = array<i64: 256>", "bytes = array<i64: 256, 256>")
        both = moved(both, 512, "512, 512")
        both = replaced(both, f"(%y) : ({TENSOR})", f"(%y, %y) : ({TENSOR}, {TENSOR})")
        both = replaced(both, f"}}) : ({TENSOR}, {TENSOR}) -> {TENSOR}",
                        f"}}) : ({TENSOR}, {TENSOR}) -> ({TENSOR}, {TENSOR})")
        rest = {"again": AGAIN.replace("%g", "%g#0"), "r": R.replace("%g", "%g#0")}
        self.refuses("taken over already", g=both, **rest)

    def test_two_results_in_one_place(self):
        both = replaced(H, "%h = ", "%h:2 = ")
        both = replaced(both, "bytes = array<i64: 256>", "bytes = array<i64: 256, 256>")
        both = moved(both, 0, "0, 0")
        both = replaced(both, f"(%y) : ({TENSOR})", f"(%y, %y) : ({TENSOR}, {TENSOR})")
        both = replaced(both, f"}}) : ({TENSOR}) -> {TENSOR}",
                        f"}}) : ({TENSOR}) -> ({TENSOR}, {TENSOR})")
        self.refuses("of the same kernel", h=both, n=N.replace("%h", "%h#0"))

    def test_workspace(self):
        self.refuses("beyond", again=with_workspace(AGAIN, 768, 8))
        self.refuses("not aligned", again=with_workspace(AGAIN, 8, 8))
        self.refuses("which is no input", again=with_workspace(AGAIN, 512, 8))
        self.refuses("of the same kernel", again=with_workspace(AGAIN, 0, 8))
        self.refuses("which is no input", h=with_workspace(H, 256, 8))

    def test_alignment(self):
        self.refuses("not aligned", n=moved(N, 512, 513))

    def test_size(self):
        self.refuses("too few", n=resized(N, 255))

    def test_arena_and_budget(self):
        self.refuses("beyond the arena", arena=767)
        self.refuses("budget 767", budget=767)

    def test_callers_buffers(self):
        self.refuses("lies at 0", r=moved(R, -1, 0))
        self.refuses("lies at -1", g=moved(G, 512, -1))

    def test_wrong_operand(self):
        self.refuses("no such 'linalg.matmul'", n=replaced(N, "(%h, %w)", "(%m, %w)"))
        self.refuses("no such 'arith.addf'", r=replaced(R, "(%g, %again)", "(%again, %g)"))

    def test_wrong_attribute(self):
        self.refuses("no such 'arith.constant'", n=replaced(N, "value = 0.0", "value = 1.0"))
        self.refuses("no such 'linalg.matmul'", n=replaced(N, "(d0, d1)>", "(d1, d0)>"))

    def test_wrong_alias(self):
        text = replaced(planned(), "(d2, d1)>", "(d1, d2)>")
        with self.assertRaisesRegex(check_kernels.Refused, "no such 'linalg.matmul'"):
            self.accepts(text)

    def test_wrong_region(self):
        swapped = replaced(N, '"arith.addf"(%sum, %product)', '"arith.addf"(%product, %sum)')
        self.refuses("no such 'linalg.matmul'", n=swapped)

    def test_wrong_result(self):
        self.refuses("result 0 is not", r=replaced(R, '"ckpt.yield"(%y)', '"ckpt.yield"(%0)'))

    def test_segments(self):
        self.refuses("segments", r=replaced(R, "array<i32: 2, 0>", "array<i32: 1, 0>"))
        self.refuses("not the inputs", r=replaced(R, "array<i32: 2, 0>", "array<i32: 1, 1>"))

    def test_two_anchors(self):
        second = matmul("%y2", "%0", "%1", "2") + '"ckpt.yield"'
        self.refuses("more than one anchor", n=replaced(N, '"ckpt.yield"', second))

    def test_dropped_after(self):
        dropped = kernel("%again", 0, ["%x"], unary("math.exp", "%y", "%0"))
        marked = replaced(dropped, "recompute = false", "recompute = true")
        self.refuses("waits for nothing younger", again=marked)
        self.refuses("is not marked", again=dropped)

    def test_repeated_anchor(self):
        again = matmul("%raw", "%0", "%1") + unary("math.tanh", "%y", "%raw")
        fused = kernel("%h", 0, ["%a", "%w"], again)
        a = moved(A, 0, 768)
        self.refuses("is not marked", arena=1024, a=a, h=fused)
        marked = kernel("%h", 0, ["%a", "%w"], again, ["%m"])
        self.refuses("waits for nothing younger", arena=1024, a=a, h=marked)

    def test_waits_for_something_old(self):
        self.refuses("waits for nothing younger", again=replaced(AGAIN, "%g", "%w"))

    def test_merges_with_another_recomputation(self):
        third = AGAIN + replaced(AGAIN, "%again = ", "%third = ").replace("64: 0>", "64: 256>")
        self.refuses("could be merged", again=third)

    def test_false_mark(self):
        marked = replaced(H, "recompute = false", "recompute = true")
        self.refuses("makes nothing again", h=marked)

    def test_op_outside(self):
        self.refuses("stands in no kernel", m=M + unary("math.exp", "%o", "%x"))

    def test_malformed(self):
        for text in ("", "func.func @f() { return }", planned()[:-40]):
            with self.assertRaises(generic_mlir.Malformed):
                self.accepts(text)


GENERIC = """%r = "linalg.generic"({operands}) <{{indexing_maps = [{maps}], iterator_types = [#linalg.iterator_type<{first}>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}}> ({{
^bb0(%in: f32, %out: f32):
  "linalg.yield"({read}) : (f32) -> ()
}}) : ({types}) -> {result}"""
IDENTITY, TRANSPOSED = "affine_map<(d0, d1) -> (d0, d1)>", "affine_map<(d0, d1) -> (d1, d0)>"


def generic(read="%in", map_=IDENTITY, first="parallel", operands="%i, %other"):
    return GENERIC.format(
        operands=operands, maps=f"{map_}, {IDENTITY}", first=first, read=read,
        types=f"{TENSOR}, {TENSOR}", result=TENSOR,
    )


SLICE = """%s = "tensor.extract_slice"(%i) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 7, 8>, static_strides = array<i64: 1, 1>}> : (tensor<8x8xf32>) -> tensor<7x8xf32>"""
PAD = """%r = "tensor.pad"(%s) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_high = array<i64: 1, 0>, static_low = array<i64: 0, 0>}> ({
^bb0(%d0: index, %d1: index):
  "tensor.yield"(%zero) : (f32) -> ()
}) : (tensor<7x8xf32>) -> tensor<8x8xf32>"""
FLAT = """%s = "tensor.collapse_shape"(%i) <{reassociation = [[0, 1]]}> : (tensor<8x8xf32>) -> tensor<64xf32>"""
SQUARE = """%r = "tensor.expand_shape"(%s) <{reassociation = [[0, 1]], static_output_shape = array<i64: 8, 8>}> : (tensor<64xf32>) -> tensor<8x8xf32>"""
SLICED_FLAT = """%r = "tensor.collapse_shape"(%s) <{reassociation = [[0, 1]]}> : (tensor<7x8xf32>) -> tensor<56xf32>"""


class Places(unittest.TestCase):
    """Which element of input %i each element of %r needs."""

    def place(self, *lines):
        places = {"%i": (8, 8)}
        for op in generic_mlir.read("\n".join(lines)):
            dataflow.read_places(op, places)
        return places.get("%r")

    def test_elementwise(self):
        self.assertEqual(self.place(generic()), (8, 8))
        self.assertEqual(self.place(generic(map_=TRANSPOSED)), ((8, 8), (1, 0)))

    def test_permutations_that_cancel(self):
        there = generic(map_=TRANSPOSED).replace("%r", "%s")
        back = generic(map_=TRANSPOSED, operands="%s, %other")
        self.assertEqual(self.place(there, back), (8, 8))

    def test_operand_that_is_not_read(self):
        self.assertEqual(self.place(generic(operands="%other, %i")), None)

    def test_reduction(self):
        self.assertEqual(self.place(generic(first="reduction")), dataflow.ELSEWHERE)
        accumulator = generic(first="reduction", operands="%other, %i", read="%out")
        self.assertEqual(self.place(accumulator), (8, 8))

    def test_read_inside_a_region(self):
        self.assertEqual(self.place(generic(read="%i", operands="%a, %b")), dataflow.ELSEWHERE)

    def test_reshape(self):
        self.assertEqual(self.place(FLAT, SQUARE), (8, 8))

    def test_slice_and_pad(self):
        self.assertEqual(self.place(SLICE, PAD), (8, 8))
        shifted = replaced(PAD, "static_low = array<i64: 0", "static_low = array<i64: 1")
        self.assertEqual(self.place(SLICE, shifted), dataflow.ELSEWHERE)
        shifted = replaced(SLICE, "static_offsets = array<i64: 0", "static_offsets = array<i64: 1")
        self.assertEqual(self.place(shifted, PAD), dataflow.ELSEWHERE)
        self.assertEqual(self.place(SLICE, SLICED_FLAT), dataflow.ELSEWHERE)

    def test_bytes(self):
        for type_, bytes_ in (
            ("tensor<f32>", 4), ("tensor<3xi1>", 3), ("tensor<2x3xbf16>", 12),
            ("tensor<2xindex>", 16), ("tensor<2xcomplex<f32>>", 16), ("tensor<0x4xf32>", 0),
        ):
            self.assertEqual(dataflow.type_bytes(type_), bytes_)


if __name__ == "__main__":
    unittest.main()
