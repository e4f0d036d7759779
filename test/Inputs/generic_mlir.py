"""Reads MLIR's generic form into plain objects, for checks that trust nobody.

Shares no code with the project and knows no dialect: an op is a name, operands,
attributes as text, regions and types. Locations are skipped, aliases written
out. One block per region is all that tensor programs need; more are refused.
"""

import bisect
import functools
import re

SPACE = r"(?:\s|//[^\n]*)*"
NAME = r"%[\w$.\-]+"
STRING = r'"(?:[^"\\]|\\.)*"'
OP_HEAD = re.compile(
    SPACE
    + rf"(?:((?:{NAME}(?::\d+)?\s*,\s*)*{NAME}(?::\d+)?)\s*=\s*)?"
    + rf"({STRING})\(([^()]*)\)"
)
RESULT = re.compile(rf"({NAME})(?::(\d+))?")
OPERAND = re.compile(rf"{NAME}(?:#\d+)?")
BLOCK_HEAD = re.compile(SPACE + r"\^[\w$.\-]+(\()?")
BLOCK_ARGUMENT = re.compile(SPACE + rf"({NAME})\s*:\s*")
# The common forms, which need no counting of brackets.
PLAIN_DICTIONARY = re.compile(r'\{[^"{}<>]*(?:<[^"{}<>]*>[^"{}<>]*)*\}')
PLAIN_TYPE = re.compile(r"\s*:\s*\(([^()]*)\)\s*->\s*(?:\(([^()]*)\)|([^\s(),]+))")
PLAIN_LOCATION = re.compile(r"\s*loc\((?:#\w+|unknown)\)")
LOCATION = re.compile(r"\s*loc\(")
# Arrows and comparisons hold no brackets.
BRACKET = re.compile(rf"{STRING}|->|[<>]=|[<>{{}}()\[\]]")
BRACKET_OR_COMMA = re.compile(rf"{STRING}|->|[<>]=|[<>{{}}()\[\],]")
TYPE_END = re.compile(rf"{STRING}|->|[<{{(\[>}})\],\n]|\s+loc\(")
ALIAS = re.compile(r"^([#!][\w$\-]+)\s*=\s*(.*)$", re.MULTILINE)
ALIAS_USE = re.compile(rf"{STRING}|[#!][A-Za-z_][\w$.\-]*")
OPENING, CLOSING = set("<{(["), set(">})]")


class Malformed(Exception):
    """The text is no generic MLIR; the message names the line."""


class Op:
    __slots__ = (
        "name",
        "results",
        "operands",
        "attributes",
        "regions",
        "operand_types",
        "result_types",
        "line",
    )


class Region:
    """The one block of a region: arguments as (name, type), and ops."""

    __slots__ = ("arguments", "ops")

    def __init__(self):
        self.arguments = []
        self.ops = []


@functools.lru_cache(maxsize=None)
def split_commas(text):
    """Parts of `text` between commas that stand in no bracket."""
    parts, depth, start = [], 0, 0
    for match in BRACKET_OR_COMMA.finditer(text):
        token = match.group()
        if token in OPENING:
            depth += 1
        elif token in CLOSING:
            depth -= 1
        elif token == "," and depth == 0:
            parts.append(text[start : match.start()].strip())
            start = match.end()
    last = text[start:].strip()
    return tuple(parts + [last]) if last else tuple(parts)


class Reader:
    def __init__(self, text):
        self.text = text
        self.at = 0
        self.lines = [match.start() for match in re.finditer("\n", text)]
        self.aliases = dict(ALIAS.findall(text))
        self.dictionaries = {}

    def module(self):
        """All top-level ops of the text."""
        ops = []
        self.skip_aliases()
        while OP_HEAD.match(self.text, self.at):
            ops.append(self.op())
            self.skip_aliases()
        rest = self.text[self.at :].lstrip()
        if not ops or (rest and not rest.startswith("{-#")):
            raise self.error("expected a generic op")
        return ops

    def skip_aliases(self):
        space = re.compile(SPACE)
        while True:
            self.at = space.match(self.text, self.at).end()
            alias = ALIAS.match(self.text, self.at)
            if not alias:
                return
            self.at = alias.end()

    def line(self, at):
        return bisect.bisect_left(self.lines, at) + 1

    def error(self, what):
        return Malformed(f"line {self.line(self.at)}: {what}")

    def op(self):
        head = OP_HEAD.match(self.text, self.at)
        if not head:
            self.at = re.compile(SPACE).match(self.text, self.at).end()
            raise self.error("expected a generic op with one block per region")
        op = Op()
        results, name, operands = head.groups()
        op.name = name[1:-1]
        op.line = self.line(head.start(2))
        op.operands = OPERAND.findall(operands)
        op.regions = []
        self.at = head.end()
        attributes = self.dictionary("<")
        if self.opens("("):
            op.regions = self.regions()
        op.attributes = dict(attributes + self.dictionary(""))
        op.operand_types, op.result_types = self.function_type()
        self.location()
        op.results = self.result_names(results)
        if len(op.results) != len(op.result_types):
            raise self.error(f"'{op.name}' has another number of results than types")
        if len(op.operands) != len(op.operand_types):
            raise self.error(f"'{op.name}' has another number of operands than types")
        return op

    def opens(self, bracket):
        """Whether `bracket` and a brace come next; stays before the brace."""
        match = re.compile(r"\s*" + re.escape(bracket) + r"(?=\{)").match(
            self.text, self.at
        )
        if match:
            self.at = match.end()
        return bool(match)

    def result_names(self, text):
        names = []
        for name, count in RESULT.findall(text or ""):
            if count:
                names += [f"{name}#{i}" for i in range(int(count))]
            else:
                names.append(name)
        return names

    def balanced(self):
        """Reads one bracketed text, with its brackets."""
        start, depth = self.at, 0
        for match in BRACKET.finditer(self.text, start):
            token = match.group()
            if token in OPENING:
                depth += 1
            elif token in CLOSING:
                depth -= 1
                if depth == 0:
                    self.at = match.end()
                    return self.text[start : self.at]
        raise self.error("a bracket is not closed")

    def dictionary(self, bracket):
        """Attributes as (name, text) pairs; empty if none are next."""
        if not self.opens(bracket):
            return ()
        plain = PLAIN_DICTIONARY.match(self.text, self.at)
        if plain and (not bracket or self.text[plain.end()] == ">"):
            self.at = plain.end()
            text = plain.group()
        else:
            text = self.balanced()
        if bracket:
            self.at += 1
        known = self.dictionaries.get(text)
        if known is None:
            known = self.dictionaries[text] = tuple(
                self.attribute(part) for part in split_commas(text[1:-1])
            )
        return known

    def attribute(self, text):
        name, _, value = text.partition("=")
        return name.strip(), self.expand(value.strip() or "unit")

    def expand(self, text):
        """Writes aliases out, as often as they refer to others."""

        def written_out(match):
            alias = self.aliases.get(match.group())
            return match.group() if alias is None else self.expand(alias)

        return ALIAS_USE.sub(written_out, text)

    def regions(self):
        regions = []
        while True:
            self.at = self.text.index("{", self.at) + 1
            regions.append(self.region())
            follow = re.compile(r"\s*([,)])").match(self.text, self.at)
            if not follow:
                raise self.error("expected ')' after the regions")
            self.at = follow.end()
            if follow.group(1) == ")":
                return regions

    def region(self):
        region = Region()
        head = BLOCK_HEAD.match(self.text, self.at)
        if head:
            self.at = head.end()
            if head.group(1):
                self.block_arguments(region)
            self.at = self.text.index(":", self.at) + 1
        end = re.compile(SPACE + r"\}")
        while True:
            closed = end.match(self.text, self.at)
            if closed:
                self.at = closed.end()
                return region
            region.ops.append(self.op())

    def block_arguments(self, region):
        separator = re.compile(r"\s*([,)])")
        while True:
            argument = BLOCK_ARGUMENT.match(self.text, self.at)
            if argument:
                self.at = argument.end()
                region.arguments.append((argument.group(1), self.type()))
                self.location()
            follow = separator.match(self.text, self.at)
            if not follow:
                raise self.error("expected ')' after the block's arguments")
            self.at = follow.end()
            if follow.group(1) == ")":
                return

    def type(self):
        """Reads a type that a comma, a closing bracket, a location or the end
        of the line follows."""
        start, depth = self.at, 0
        for match in TYPE_END.finditer(self.text, start):
            token = match.group()
            if token in OPENING:
                depth += 1
            elif depth == 0 and not token.startswith(('"', "->")):
                self.at = match.start()
                return self.expand(self.text[start : self.at].strip())
            elif token in CLOSING:
                depth -= 1
        raise self.error("expected a type")

    def function_type(self):
        plain = PLAIN_TYPE.match(self.text, self.at)
        if plain:
            self.at = plain.end()
            operands, results, result = plain.groups()
            return self.types(operands), self.types(result or results or "")
        colon = re.compile(r"\s*:\s*(?=\()").match(self.text, self.at)
        if not colon:
            raise self.error("expected a function type")
        self.at = colon.end()
        operands = self.types(self.balanced()[1:-1])
        arrow = re.compile(r"\s*->\s*").match(self.text, self.at)
        if not arrow:
            raise self.error("expected '->'")
        self.at = arrow.end()
        if self.text[self.at] == "(":
            return operands, self.types(self.balanced()[1:-1])
        return operands, (self.type(),)

    def types(self, text):
        return split_commas(self.expand(text) if "#" in text or "!" in text else text)

    def location(self):
        plain = PLAIN_LOCATION.match(self.text, self.at)
        if plain:
            self.at = plain.end()
        elif LOCATION.match(self.text, self.at):
            self.at = self.text.index("(", self.at)
            self.balanced()


def read(text):
    """Top-level ops of generic MLIR text; raises Malformed."""
    return Reader(text).module()
