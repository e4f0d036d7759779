"""Runs ckpt-opt for the tests of whole programs."""

import json
import os
import subprocess
import sys
import tempfile

import check_kernels

GENERIC = "--mlir-print-op-generic"


class Failed(Exception):
    """What a test expected and did not get."""


def ckpt_opt(*arguments, text=None):
    """(exit code, stdout, stderr) of ckpt-opt; `text` is its stdin."""
    result = subprocess.run(
        ["ckpt-opt", *arguments], input=text, capture_output=True, text=True, check=False
    )
    return result.returncode, result.stdout, result.stderr


def expect_text(*arguments, text=None):
    """Stdout of ckpt-opt, which must succeed."""
    code, out, errors = ckpt_opt(*arguments, text=text)
    if code:
        raise Failed(f"ckpt-opt {' '.join(arguments)}: {errors.strip()}")
    return out


# Counted work, for tests of the rewritten program and not of its time.
EFFORT = "effort=300"


def plan(model, options):
    """Plans and rewrites a file: (exit code, text, stderr, figures)."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        code, text, errors = ckpt_opt(
            f"--ckpt-plan={options} {EFFORT} quiet=true report={report}",
            "--ckpt-apply-plan",
            f"--ckpt-verify=original={model}",
            GENERIC,
            model,
        )
        figures = {}
        if os.path.exists(report):
            with open(report, encoding="utf-8") as file:
                figures = json.load(file)
    return code, text, errors, figures


def expect_plan(model, options):
    """Text of a rewritten program and its figures; planning must succeed."""
    code, text, errors, figures = plan(model, options)
    if code:
        raise Failed(f"{options}: {errors.strip()}")
    return text, figures


def judge(text, original=None, budget=None):
    """The one planned program of `text`, checked."""
    programs = check_kernels.judge(text, original, budget)
    if len(programs) != 1:
        raise Failed(f"expected one function, but got {len(programs)}")
    return programs[0]


def main(test):
    """Runs `test` on the files of the command line; exit code 1 if it fails."""
    for model in sys.argv[1:]:
        try:
            test(model)
        except (Failed, check_kernels.Refused) as error:
            sys.exit(f"{os.path.basename(model)}: {error}")
