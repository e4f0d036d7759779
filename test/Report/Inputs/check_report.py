"""Compares a report with the plan that it shows.

    check_report.py REPORT.json PLAN PROBLEM

PLAN and PROBLEM are text. Live bytes, peak, recomputed work and live ranges are
computed from those with no code of ckpt (liveness.py).
"""

import json
import sys

import liveness


def rows(table):
    return [dict(zip(table["columns"], cells)) for cells in table["data"]]


def expect(what, got, want):
    if got != want:
        sys.exit(f"error: expected {what} to be {want}, but got {got}")


def main(report_path, plan_path, problem_path):
    with open(report_path, encoding="utf-8") as file:
        report = json.load(file)
    with open(problem_path, encoding="utf-8") as file:
        problem = liveness.Problem(file.read())
    with open(plan_path, encoding="utf-8") as file:
        plan = liveness.Plan(file.read())
    kernels, ranges = rows(report["kernel_table"]), rows(report["live_range_table"])
    values, again = rows(report["value_table"]), rows(report["recomputation_table"])
    live = liveness.live_bytes(problem, plan)
    expect("the live bytes", [kernel["live_bytes"] for kernel in kernels], live)
    expect("the peak", report["live_peak_bytes"], max(live))
    expect("the time", sum(kernel["time_ns"] for kernel in kernels), report["cost_ns"])
    baseline = rows(report["baseline_table"])
    expect("the baseline's time", sum(row["time_ns"] for row in baseline),
           report["baseline_cost_ns"])
    for number, kernel in enumerate(kernels):
        total = kernel["workspace_bytes"] + sum(
            each["bytes"] for each in ranges if each["first"] <= number <= each["last"])
        expect(f"the live ranges at kernel {number}", total, kernel["live_bytes"])
    work = liveness.extra_flops(problem, plan)
    expect("extra FLOPs", report["extra_flops"], work)
    expect("recomputed FLOPs", sum(each["flops"] for each in again), work)
    stays = sorted((stay.value, stay.first, stay.bytes, stay.offset, stay.again)
                   for stay in liveness.stays(problem, plan))
    expect("the ranges", sorted((values[each["value"]]["id"], each["first"], each["bytes"],
                                 each["offset"], each["recomputed"]) for each in ranges), stays)
    for value in values:
        expect("a name", value["name"], problem.values[value["id"]].name)
    for each in again:
        stand = [other for other in ranges if other["value"] == each["value"]]
        for other in stand:
            if max(other["first"], each["freed_first"]) <= min(other["last"], each["freed_last"]):
                sys.exit(f"error: {each} stands in memory where it is free")
    print(f"{len(kernels)} kernels, {len(ranges)} live ranges, {len(again)} recomputations: "
          "as the plan says")


main(*sys.argv[1:])
