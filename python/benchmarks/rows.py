"""The command line that the benchmarks of JAX share: rows by their names, and shares of memory."""

from __future__ import annotations

import argparse
from collections.abc import Iterable


def parser_of(description: str | None, names: Iterable[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(names))
    parser.add_argument("--shares", default="75,50,35")
    return parser
