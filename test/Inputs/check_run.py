"""Checks the figures of `ckpt-runner --verify --budget --report` against each other.

usage: check_run.py REPORT.json
"""
import json
import sys

with open(sys.argv[1]) as file:
    report = json.load(file)
keys = """written_peak_bytes baseline_peak_bytes budget_bytes peak_bytes live_peak_bytes
    argument_bytes result_bytes baseline_cost_ns cost_ns flops extra_flops
    extra_flops_bound gap bytes_moved written_bytes_moved planning_ms feasible
    minimum_budget_bytes minimum_budget_bound_bytes bit_equal measured_peak_bytes
    step_ns baseline_step_ns compile_ms""".split()
missing = [key for key in keys if key not in report]
assert not missing, missing
# Figures stand flat at the top, beside lists of texts and tables (docs/Report.md).
texts = ("notes", "bands", "sources")
nested = [key for key, value in report.items() if isinstance(value, (dict, list))]
nested = [key for key in nested if key not in texts and not key.endswith("_table")]
assert not nested, nested

# What was touched is the arena, but for the padding of its last values.
arena, touched = report["peak_bytes"], report["measured_peak_bytes"]
assert arena <= report["budget_bytes"], (arena, report["budget_bytes"])
assert 0.9 * arena <= touched <= arena, (arena, touched)
# Nothing else grows with the model: code, stacks and a few pages only.
other = report.get("measured_other_bytes", 0)
assert other < 16 << 20, other
assert report["bit_equal"] is True
assert 0 <= report["max_abs_error"] < 1e-3
assert report["step_ns"] > 0 and report["baseline_step_ns"] > 0
