"""Prints "N passed, N failed" for lit's xunit file; exit code 1 unless tests ran and none failed.

usage: count-tests.py RESULTS.xml
"""
import sys
import xml.etree.ElementTree as ElementTree


def main():
    try:
        suites = ElementTree.parse(sys.argv[1]).getroot().iter("testsuite")
    except (OSError, ElementTree.ParseError) as error:
        print(f"error: no test results: {error}", file=sys.stderr)
        print("0 passed, 1 failed")
        return 1
    tests = failures = skipped = 0
    for suite in suites:
        tests += int(suite.get("tests"))
        failures += int(suite.get("failures"))
        skipped += int(suite.get("skipped", 0))
    passed = tests - failures - skipped
    if skipped:
        print(f"{skipped} skipped: what they need is not installed")
    print(f"{passed} passed, {failures} failed")
    return 0 if passed and not failures else 1


sys.exit(main())
