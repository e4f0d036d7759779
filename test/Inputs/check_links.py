"""Checks that each link of the pages leads to a file of the project, and to a heading of it.

    check_links.py ROOT

The pages are the Markdown files of ROOT and of its folders, except `build`.
"""

import pathlib
import re
import sys

LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#+ +(.*)$", re.MULTILINE)


def without_code(text):
    """The text without fenced blocks and code in lines, which hold no links."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL))


def anchors(page):
    """The names that hosts of Markdown give to the headings of a page."""
    headings = HEADING.findall(re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def faults(page):
    """The links of a page that lead nowhere."""
    for target, anchor in LINK.findall(without_code(page.read_text())):
        if ":" in target:
            continue
        file = page.parent / target if target else page
        if not file.exists():
            yield f"{page}: no file '{target}'"
        elif anchor and anchor not in anchors(file):
            yield f"{page}: no heading '#{anchor}' in '{file.name}'"


def pages(root):
    """The Markdown files of the project."""
    yield from root.glob("*.md")
    for folder in root.iterdir():
        if folder.is_dir() and folder.name not in ("build", ".git"):
            yield from folder.rglob("*.md")


def main():
    root = pathlib.Path(sys.argv[1])
    sys.exit("\n".join(fault for page in sorted(pages(root)) for fault in faults(page)) or 0)


main()
