"""Commands of `python -m ckpt`, for people who like a shell."""

from __future__ import annotations

import argparse
import json
import sys

from . import engine, export
from .budget import format_bytes
from .errors import CkptError
from .export.files import load_step, save_arrays
from .files import write_text
from .report import Report

_EPILOG = """
examples:
  python -m ckpt import step.py:step -o step.mlir
      A step of JAX or PyTorch becomes a file in MLIR; example_arguments in step.py, a
      tuple or a function that returns one, says its shapes and types.
  python -m ckpt plan step.mlir --budget 50% --report plan.html
      Half of the memory that the step takes with nothing recomputed; the page shows what
      stands in memory and what is computed again.
  python -m ckpt plan step.py:step --budget 2GiB -o planned.mlir
      Without a file between; ckpt-opt --ckpt-apply-plan reads planned.mlir.
  python -m ckpt frontier step.mlir --points 20 --svg curve.svg
      The price of memory: the least time for each budget.
  python -m ckpt show plan.json
      The figures of a report that was saved.

`plan` and `frontier` need the package ckpt-engine, `import` the packages of docs/ExportFromJax.md
or docs/ExportFromTorch.md. Exit code 0: done. 1: an error, or a budget that cannot be met.
"""


def _parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="python -m ckpt", description="Plans training steps into a memory budget.", epilog=_EPILOG, formatter_class=raw
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    step_help = "a file in MLIR, or FILE.py:FUNCTION with a step of JAX or PyTorch"

    command = commands.add_parser("import", help="write a step of JAX or PyTorch as a file in MLIR")
    command.add_argument("step", metavar="FILE.py[:FUNCTION]", help="your step (default function: step)")
    command.add_argument("-o", dest="output", required=True, metavar="FILE.mlir", help="the file to write")
    _add_arguments(command)
    command.add_argument("--inputs", metavar="FILE.npz", help="also write the example arguments, for ckpt-runner --inputs")
    command.add_argument("--expected", metavar="FILE.npz", help="also run the step and write its results, for ckpt-runner --expected")
    command.set_defaults(run=_import)

    command = commands.add_parser("plan", help="plan a step and print the report")
    command.add_argument("step", help=step_help)
    command.add_argument("--budget", help="largest arena: 12GiB, 512KiB, or 50%% of the arena without recomputation (default: no limit)")
    command.add_argument("-o", dest="output", metavar="FILE.mlir", help="write the step with its plan")
    command.add_argument("--report", metavar="FILE", help="write the report as a page (.html), a picture (.svg) or JSON")
    _add_arguments(command)
    command.set_defaults(run=_plan)

    command = commands.add_parser("frontier", help="print the least time for each of some budgets")
    command.add_argument("step", help=step_help)
    command.add_argument("--points", type=int, default=20, metavar="N", help="how many budgets (default: 20)")
    command.add_argument("--svg", metavar="FILE", help="also draw the curve")
    command.add_argument("--json", metavar="FILE", help="also write the curve as data")
    _add_arguments(command)
    command.set_defaults(run=_frontier)

    command = commands.add_parser("show", help="print the figures of a saved report")
    command.add_argument("report", metavar="FILE.json", help="a file of `plan --report` or of Report.save")
    command.set_defaults(run=_show)

    for name in ("plan", "frontier"):
        commands.choices[name].add_argument(
            "--time-limit", type=float, default=5.0, metavar="SECONDS", help="when the search for a plan ends (default: 5)"
        )
    return parser


def _add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--arguments",
        default="example_arguments",
        metavar="NAME",
        help="in the Python file: a tuple of example arguments, or a function that returns one",
    )


def _split(step: str) -> tuple[str, str]:
    """A Python file and the function in it."""
    path, colon, function = step.rpartition(":")
    return (path, function) if colon and path.endswith(".py") else (step, "step")


def _planned(options: argparse.Namespace, more_options: tuple[str, ...] = (), budget: str | None = None) -> engine.PlannedStep:
    path, function = _split(options.step)
    example: tuple = ()
    step = path
    if path.endswith(".py"):
        step, example = load_step(path, function, options.arguments)
    return engine.plan(step, *example, budget=budget, time_limit=options.time_limit, more_options=more_options)


def _import(options: argparse.Namespace) -> None:
    path, function = _split(options.step)
    step = export.trace(*load_step(path, function, options.arguments))
    text = step.export()
    if options.inputs:
        save_arrays(options.inputs, "arg", step.inputs())
    if options.expected:
        save_arrays(options.expected, "out", step.expected())
    write_text(options.output, text)


def _plan(options: argparse.Namespace) -> None:
    planned = _planned(options, budget=options.budget)
    if options.report:
        planned.report.save(options.report)
    if options.output:
        write_text(options.output, planned.text)
    print(planned.report)


def _frontier(options: argparse.Namespace) -> None:
    files = {"frontier-svg": options.svg, "frontier-json": options.json}
    more = [f"frontier={options.points}", "strategy=none"]
    more += [f"{name}={path}" for name, path in files.items() if path]
    report = _planned(options, tuple(more)).report
    print(f"{'budget':>14} {'arena':>14} {'time':>12} {'extra work':>12}")
    for row in report.frontier:
        work = 100 * row["extra_flops"] / max(1, report.figures["flops"])
        print(
            f"{format_bytes(row['budget_bytes']):>14} {format_bytes(row['arena_bytes']):>14} "
            f"{row['time_ns'] / 1e6:>9.3f} ms {work:>10.2f} %"
        )


def _show(options: argparse.Namespace) -> None:
    try:
        with open(options.report, encoding="utf-8") as file:
            text = file.read()
        is_report = str(json.loads(text)["format"]).startswith("ckpt-report")
    except (OSError, ValueError, KeyError, TypeError):
        is_report = False
    if not is_report:
        raise CkptError(f"expected a report in JSON, but got {options.report!r}")
    print(Report(lambda path: text))


def main(arguments: list[str] | None = None) -> None:
    """Runs one command; exits with 1 after an error, with 130 after Ctrl-C."""
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
    except (CkptError, OSError) as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
