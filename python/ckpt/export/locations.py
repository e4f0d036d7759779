"""Locations in the form in which ckpt reads them: the whole path of an operation in one name, beside its place in a file.

JAX since 0.7 nests names, `"dot_general"("jit(step)/jvp(layer_1)"(...))`, and calls functions whose names begin anew.
"""

import dataclasses
import re

TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|#loc\d*|callsite|fused|unknown|at|to|\d+|[()\[\]:,<>]|[^\s])')


@dataclasses.dataclass(frozen=True)
class Place:
    """A path of names, and a file with line and column as MLIR writes them; either may be empty."""

    path: str = ""
    file: str = ""

    def __str__(self) -> str:
        if self.path:
            return f'loc("{self.path}"({self.file}))' if self.file else f'loc("{self.path}")'
        return f"loc({self.file or 'unknown'})"


class Reader:
    """Reads one location; what an alias stands for is read when it is met."""

    def __init__(self, text: str, aliases: dict[str, str]):
        self.tokens, self.aliases = TOKEN.findall(text), aliases

    def take(self, *expected: str) -> str:
        token = self.tokens.pop(0)
        assert not expected or token in expected, f"expected {expected}, but got {token}"
        return token

    def met(self, token: str) -> bool:
        if not self.tokens or self.tokens[0] != token:
            return False
        self.tokens.pop(0)
        return True

    def place(self) -> Place:
        token = self.take()
        if token.startswith("#"):
            return read_place(self.aliases[token], self.aliases)
        if token == "callsite":
            self.take("(")
            callee = self.place()
            self.take("at")
            caller = self.place()
            self.take(")")
            return called(callee, caller)
        if token == "fused":
            return self.fused()
        return self.named(token[1:-1]) if token.startswith('"') else Place()

    def named(self, text: str) -> Place:
        """A name, or a file."""
        if self.met(":"):
            line = self.take()
            self.take(":")
            column = self.take()
            while self.tokens and self.tokens[0] in ("to", ":") or self.tokens and self.tokens[0].isdigit():
                self.take()
            return Place("", f'"{text}":{line}:{column}')
        name = text.rstrip(":")
        if not self.met("("):
            return Place(name)
        inner = self.place()
        self.take(")")
        return Place(f"{inner.path}/{name}" if inner.path else name, inner.file)

    def fused(self) -> Place:
        """The first of several places that has a name, else the first."""
        while not self.met("["):
            self.take()
        places = [self.place()]
        while self.met(","):
            places.append(self.place())
        self.take("]")
        return next((place for place in places if place.path), places[0])


def called(callee: Place, caller: Place) -> Place:
    """A place in a function that was called: its path goes on from the caller's, unless it is whole."""
    is_whole = callee.path.split("/")[0] == caller.path.split("/")[0] or not caller.path
    path = callee.path if is_whole else f"{caller.path}/{callee.path}".rstrip("/")
    return Place(path, callee.file or caller.file)


def read_place(text: str, aliases: dict[str, str] | None = None) -> Place:
    """The place that a location says, as MLIR writes it: loc(...)."""
    return Reader(text.strip().removeprefix("loc(").removesuffix(")"), aliases or {}).place()


def join_names(text: str) -> str:
    """A module whose locations each hold one path and one place."""
    definition = re.compile(r"^(#loc\d*) = (loc\(.*\))$", re.M)
    aliases = dict(definition.findall(text))
    return definition.sub(lambda found: f"{found[1]} = {read_place(found[2], aliases)}", text)
