"""Compares the tables of two reports: same_tables.py A.json B.json

Places in the source apart, which a problem in text does not have.
"""

import json
import sys


def tables(path):
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    found = {key: table["data"] for key, table in report.items() if key.endswith("_table")}
    found["value_table"] = [row[:-1] for row in found["value_table"]]
    return found, report["peak_bytes"], report["cost_ns"], report["extra_flops_bound"]


first, second = map(tables, sys.argv[1:])
if first != second:
    sys.exit(f"error: expected the tables of {sys.argv[1]}, but got others in {sys.argv[2]}")
print(f"{len(first[0])} equal tables")
