"""Checks a curve of --frontier: JSON, and the picture if one is given.

usage: check_frontier.py CURVE.json LEAST_POINTS [PICTURE.svg]
"""

import json
import sys
import xml.etree.ElementTree


def check_points(curve, least):
    points = curve["points"]
    assert len(points) >= least, f"only {len(points)} points"
    for point in points:
        assert point["peak_bytes"] <= point["budget_bytes"], point
        assert point["peak_bytes"] >= curve["minimum_budget_bound_bytes"], point
        assert point["extra_flops"] >= point["extra_flops_bound"], point
        assert point["cost_ns"] >= point["cost_bound_ns"], point
    for smaller, larger in zip(points, points[1:]):
        assert smaller["budget_bytes"] < larger["budget_bytes"], larger
        assert smaller["cost_ns"] >= larger["cost_ns"], larger
        assert smaller["extra_flops_bound"] >= larger["extra_flops_bound"]
    assert points[-1]["budget_bytes"] == curve["baseline_peak_bytes"]
    assert points[-1]["cost_ns"] <= curve["baseline_cost_ns"]


def check_picture(path, count):
    root = xml.etree.ElementTree.parse(path).getroot()
    svg = "{http://www.w3.org/2000/svg}"
    assert root.tag == svg + "svg", root.tag
    # One dot per point in each of the two panels.
    assert len(root.findall(svg + "circle")) == 2 * count
    _, _, width, height = map(float, root.get("viewBox").split())
    for dot in root.findall(svg + "circle"):
        assert 0 <= float(dot.get("cx")) <= width
        assert 0 <= float(dot.get("cy")) <= height


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        curve = json.load(file)
    check_points(curve, int(sys.argv[2]))
    if len(sys.argv) > 3:
        check_picture(sys.argv[3], len(curve["points"]))


main()
