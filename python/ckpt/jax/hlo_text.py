"""The entry computation of an HLO module in XLA's text: instructions, their kinds, and copies of them.

`ckpt.jax.hlo` reads a scheduled module with it, in which the order of lines is the schedule, and writes it again. jaxlib turns
text into modules and back; no small package has the protobuf classes of HLO.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Sequence
from typing import Any

# Names for the elements of others.
VIEWS = frozenset(("bitcast", "get-tuple-element", "tuple"))
# In memory throughout, at no cost.
GIVEN = frozenset(("constant", "iota", "parameter", "partition-id", "replica-id"))
# One element from the elements at the same place.
POINTWISE = frozenset(
    """abs add and atan2 cbrt ceil clamp compare complex convert copy cosine divide erf exponential exponential-minus-one floor imag
    is-finite log log-plus-one logistic maximum minimum multiply negate not or popcnt power real reduce-precision remainder
    round-nearest-afz round-nearest-even rsqrt select shift-left shift-right-arithmetic shift-right-logical sign sine sqrt
    subtract tan tanh xor""".split()
)
# Other functions of their operands that write to no operand.
PURE = frozenset(
    "broadcast concatenate convolution dot dynamic-slice fusion gather pad reduce reduce-window reverse slice transpose".split()
)
# Inside of a fusion: written into an operand, or not the same twice.
_BOUND = re.compile(r" (?:dynamic-update-slice|scatter|custom-call|rng[\w-]*)\(")
_SHAPE = re.compile(r"([a-z]+\d*[a-z0-9]*)\[([\d,]*)\]")


def elements_of(shape: str) -> int:
    return sum(math.prod(map(int, filter(None, extents.split(",")))) for _, extents in _SHAPE.findall(shape))


def bytes_of(shape: str) -> int:
    """Of an array or of all arrays of a tuple."""
    total = 0
    for kind, extents in _SHAPE.findall(shape):
        digits = re.search(r"\d+", kind)
        bits = int(digits[0]) if digits else 8 if kind == "pred" else 0
        total += -(-bits * math.prod(map(int, filter(None, extents.split(",")))) // 8)
    return total


def _closing(text: str) -> int:
    """The index of the parenthesis that closes the first one."""
    depth = 0
    for i, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return i
    raise ValueError(f"expected a closing parenthesis in {text!r}")


def _parts(shape: str) -> list[str]:
    """The shapes of a tuple, or the shape itself."""
    if not shape.startswith("("):
        return [shape]
    parts, depth, start = [], 0, 1
    for i, character in enumerate(shape):
        depth += (character in "([{") - (character in ")]}")
        if (character == "," and depth == 1) or (character == ")" and depth == 0):
            parts.append(re.sub(r"/\*.*?\*/", "", shape[start:i]).strip())
            start = i + 1
    return [part for part in parts if part]


@dataclasses.dataclass
class Instruction:
    """One line. `operands` are names; `predecessors` have to run before."""

    name: str
    shape: str
    opcode: str
    operands: list[str]
    given: str
    attributes: str
    is_root: bool
    predecessors: list[str]

    @staticmethod
    def read(line: str) -> Instruction:
        found = re.match(r"\s*(ROOT )?%([\w.\-]+) = (.*)$", line, re.DOTALL)
        if not found:
            raise ValueError(f"expected an HLO instruction, but got {line[:80]!r}")
        rest = found[3]
        end = _closing(rest) + 1 if rest.startswith("(") else rest.index(" ")
        shape, rest = rest[:end], rest[end:].strip()
        opcode = rest[: rest.index("(")]
        rest = rest[len(opcode) :]
        end = _closing(rest)
        inside, attributes = rest[1:end], rest[end + 1 :]
        control = re.search(r", control-predecessors=\{([^}]*)\}", attributes)
        predecessors = re.findall(r"%([\w.\-]+)", control[1]) if control else []
        attributes = attributes.replace(control[0], "") if control else attributes
        operands = [] if opcode in GIVEN else re.findall(r"%([\w.\-]+)", inside)
        return Instruction(found[2], shape, opcode, operands, inside if opcode in GIVEN else "", attributes, bool(found[1]), predecessors)

    @property
    def parts(self) -> list[str]:
        return _parts(self.shape)

    @property
    def index(self) -> int:
        """The element that a get-tuple-element takes."""
        found = re.search(r"index=(\d+)", self.attributes)
        assert found
        return int(found[1])

    def line(self, name: str, operands: Sequence[str], attributes: str) -> str:
        inside = self.given or ", ".join("%" + operand for operand in operands)
        return f"  %{name} = {self.shape} {self.opcode}({inside}){attributes}"


class Text:
    """A module: computations before the entry, the entry's instructions, and fresh copies of them."""

    def __init__(self, text: str) -> None:
        self.head, _, rest = text.partition("\nENTRY ")
        body, _, self.tail = rest.partition("\n}")
        self.signature, *lines = body.split("\n")
        self.instructions = [Instruction.read(line) for line in lines if line.strip()]
        self.computations = {}
        for block in re.split(r"\n(?=%)", self.head):
            if found := re.match(r"%([\w.\-]+) \(", block.lstrip("\n")):
                self.computations[found[1]] = block.strip("\n")
        self.clones: list[str] = []

    def donations(self) -> dict[int, int]:
        """By the number of a result, that of the parameter in whose buffer it lies."""
        _, _, aliases = self.head.partition("\n")[0].partition("input_output_alias={")
        return {int(result or 0): int(parameter) for result, parameter in re.findall(r"\{(\d*)\}: \((\d+), \{\}", aliases)}

    def called(self, instruction: Instruction) -> str:
        """The text of all computations that are fused into an instruction."""
        found = re.search(r"calls=%([\w.\-]+)", instruction.attributes)
        return "\n".join(self._nested(found[1])) if found else ""

    def _nested(self, name: str) -> list[str]:
        text = self.computations[name]
        return [text, *(part for inner in re.findall(r"calls=%([\w.\-]+)", text) for part in self._nested(inner))]

    def is_pure(self, instruction: Instruction) -> bool:
        """Whether it may run again, and writes to none of its operands."""
        return instruction.opcode in PURE | POINTWISE and not _BOUND.search(self.called(instruction))

    def is_pointwise(self, instruction: Instruction, operand: int) -> bool:
        """Whether each element of the result is made from the element of `operand` at its place, so that it may be written over that."""
        if "calls=" not in instruction.attributes:
            return instruction.opcode in POINTWISE
        if instruction.opcode != "fusion" or "kind=kLoop" not in instruction.attributes:
            return False
        inner = [Instruction.read(line) for line in self.called(instruction).split("\n") if re.match(r"\s+(ROOT )?%", line)]
        reached = {each.name for each in inner if each.opcode == "parameter" and each.given == str(operand)}
        for each in inner:
            if not reached.isdisjoint(each.operands):
                reached.add(each.name)
                if each.opcode not in POINTWISE and each.opcode != "bitcast":
                    return False
        return True

    def flops(self, instruction: Instruction, shapes: dict[str, str]) -> int:
        """Of products and convolutions; `shapes` are those of the entry's names."""
        lines = self.called(instruction).split("\n") if "calls=" in instruction.attributes else []
        inner = [Instruction.read(line) for line in lines if re.match(r"\s+(ROOT )?%", line)]
        known = {**shapes, **{each.name: each.shape for each in inner}}
        total = 0
        for each in inner or [instruction]:
            if each.opcode not in ("dot", "convolution"):
                continue
            left, right = (_SHAPE.findall(known[operand])[0][1] for operand in each.operands[:2])
            if each.opcode == "dot":
                contracted = re.search(r"lhs_contracting_dims=\{([\d,]*)\}", each.attributes)
                extents = left.split(",")
                terms = math.prod(int(extents[int(i)]) for i in contracted[1].split(",") if i) if contracted else 1
            else:
                labels = re.search(r"dim_labels=\w+_(\w+)->", each.attributes)
                extents = [int(extent) for extent in right.split(",")]
                outputs = extents[labels[1].index("o")] if labels else 1
                terms = math.prod(extents) // max(1, outputs)
            total += 2 * elements_of(each.shape) * terms
        return total

    def clone(self, attributes: str, suffix: str) -> str:
        """Attributes that call copies: a computation is fused into one instruction."""

        def copied(name: str) -> str:
            text = self.computations[name]
            inner = {each: copied(each) for each in dict.fromkeys(re.findall(r"calls=%([\w.\-]+)", text))}
            text = re.sub(r"calls=%([\w.\-]+)", lambda found: f"calls=%{inner[found[1]]}", text)
            self.clones.append(text.replace(f"%{name} (", f"%{name}{suffix} (", 1))
            return name + suffix

        return re.sub(r"calls=%([\w.\-]+)", lambda found: f"calls=%{copied(found[1])}", attributes)

    def written(self, lines: Sequence[str], root: str) -> str:
        """The module with other lines in the entry; `root` names the result."""
        lines = [line.replace("  %", "  ROOT %", 1) if line.startswith(f"  %{root} = ") else line for line in lines]
        clones = "".join(f"\n\n{clone}" for clone in self.clones)
        return f"{self.head.rstrip()}{clones}\n\nENTRY {self.signature}\n" + "\n".join(lines) + "\n}" + self.tail


def module_text(serialized: bytes) -> tuple[str, str]:
    """Name and text of a module; jaxlib has no public reader."""
    from jaxlib import _hlo

    module = _hlo.HloModule.from_serialized_hlo_module_proto(serialized)
    options: Any = _hlo.HloPrintOptions()
    options.print_large_constants = True
    options.print_control_dependencies = True
    return module.name, module.to_string(options)


def serialized_module(text: str) -> bytes:
    from jaxlib import _hlo

    return _hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
