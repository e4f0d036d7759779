"""Compares the bytes of results with what they have to be."""
import math

import elements
from elements import UNKNOWN


def difference(program, data, altered=None):
    """Says where the first element differs, or nothing; the results of an altered op
    are expected to be wrong."""
    place = 0
    for number, (value, wanted) in enumerate(zip(program.returned, program.evaluate(altered))):
        size = elements.storage(value.element)
        for i, expected in enumerate(wanted):
            got = elements.decode(value.element, data[place:place + size])
            place += size
            if value.element == "i1" and data[place - 1] > 1:
                return f"result {number} at {i}: byte {data[place - 1]} is no i1"
            if not matches(expected, got):
                return f"result {number} at {i} of {value.type()}: expected {shown(expected)}, but got {got}"
    if place != len(data):
        return f"expected {place} bytes of results, but got {len(data)}"
    return ""


def matches(expected, got):
    if expected is UNKNOWN:
        return True
    if isinstance(expected, tuple):
        return expected[0] <= got <= expected[1]
    return expected == got or isinstance(got, float) and math.isnan(expected) and math.isnan(got)


def shown(expected):
    return f"{expected[0]} to {expected[1]}" if isinstance(expected, tuple) else str(expected)
