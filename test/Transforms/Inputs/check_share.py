"""Checks that a plan's peak is at most a share of the baseline's."""
import json
import sys

with open(sys.argv[1]) as file:
    report = json.load(file)
share = report["peak_bytes"] / report["baseline_peak_bytes"]
if share > float(sys.argv[2]):
    sys.exit(f"expected a share of at most {sys.argv[2]}, but got {share:.3f}")
