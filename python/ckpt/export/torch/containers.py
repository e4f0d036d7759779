"""Variables and containers of the user's code, which a trace puts back as they were: it puts tensors and numbers of its own there."""

import functools
from collections.abc import Callable, Iterator, MutableMapping
from typing import Any, NamedTuple

Container = list | MutableMapping


class Variable(NamedTuple):
    """A name in the user's code, and how to read and to set its value, where it can be set."""

    name: str
    read: Callable[[], Any]
    write: Callable[[Any], None] | None


def variable_in(container: Container, key: Any, name: str) -> Variable:
    """An item, `None` where there is none."""

    def read() -> Any:
        if isinstance(container, MutableMapping):
            return container.get(key)
        return container[key] if key < len(container) else None

    return Variable(name, read, functools.partial(container.__setitem__, key))


def variable_in_tuple(container: Container, key: Any, name: str, number: int) -> Variable:
    """An item of a tuple that is an item, `None` where there is none."""
    whole = variable_in(container, key, name)

    def read() -> Any:
        value = whole.read()
        return value[number] if type(value) is tuple and number < len(value) else None

    def write(item: Any) -> None:
        value = whole.read()
        container[key] = (*value[:number], item, *value[number + 1 :])

    return Variable(f"{name}[{number}]", read, write)


def items_of(container: Container) -> list[tuple[Any, Any]]:
    return list(enumerate(container) if isinstance(container, list) else container.items())


def nested(name: str, value: Any) -> Iterator[tuple[str, Container]]:
    """The lists and dictionaries in a value, itself first, each with a name for people."""
    if isinstance(value, Container):
        yield name, value
    if isinstance(value, Container | tuple):
        for key, item in list(enumerate(value)) if isinstance(value, tuple) else items_of(value):
            if isinstance(item, Container | tuple):
                yield from nested(f"{name}[{key!r}]", item)


class Contents:
    """The items of a container at one time."""

    def __init__(self, name: str, container: Container):
        self.name, self.container, self.items = name, container, items_of(container)

    @property
    def is_changed(self) -> bool:
        now = items_of(self.container)
        return len(now) != len(self.items) or any(
            key != key_before or value is not before for (key, value), (key_before, before) in zip(now, self.items)
        )

    def put_back(self) -> None:
        if not self.is_changed:
            return
        if isinstance(self.container, list):
            self.container[:] = [value for _, value in self.items]
        else:
            self.container.clear()
            self.container.update(self.items)
