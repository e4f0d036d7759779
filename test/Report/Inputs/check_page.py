"""Opens pages in a headless Chromium and checks what people would see.

    check_page.py FOLDER NAME...

FOLDER holds NAME.html, NAME.plan and NAME.problem of each step, and gets
screenshots. Bytes are compared with liveness.py, which reads the plan.
"""

import collections
import json
import os
import re
import sys

import liveness
from browser import Browser, PageError

# Rectangles of all pieces of text that are visible, clipped by boxes that scroll.
TEXTS = """(() => {
  const found = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!node.data.trim() || parent.closest("script, title") || !parent.checkVisibility())
      continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = parent.closest(".scroll")?.getBoundingClientRect();
    for (const each of range.getClientRects()) {
      const right = box ? Math.min(box.right, each.right) : each.right;
      if (right > each.left)
        found.push([each.left, each.top, right, each.bottom, node.data.trim().slice(0, 40)]);
    }
  }
  return found;
})()"""

BYTES = """[...document.querySelectorAll("#live > li")].map(item =>
  [item.querySelector(".name").textContent, Number(item.dataset.bytes)])"""


def check(condition, message):
    if not condition:
        raise PageError(message)


def overlapping(texts):
    """Pairs of texts that cover each other by more than a pixel."""
    texts = sorted(texts, key=lambda text: text[1])
    for i, (left, top, right, bottom, name) in enumerate(texts):
        for other in texts[i + 1:]:
            if other[1] >= bottom - 1:
                break
            if min(right, other[2]) - max(left, other[0]) > 1 and other[3] - top > 1:
                return name, other[4]
    return None


def check_looks(browser, folder, name):
    for width in (400, 1280, 1600):
        for theme in ("light", "dark"):
            browser.open(f"{folder}/{name}.html", width, 900, theme)
            place = f"{name} at {width} pixels, {theme}"
            check(not browser.complaints(), f"{place}: {browser.complaints()}")
            check(browser.evaluate("document.documentElement.scrollWidth") <= width,
                  f"{place} is wider than the window")
            texts = browser.evaluate(TEXTS)
            check(len(texts) > 20, f"{place} shows little text")
            pair = overlapping(texts)
            check(pair is None, f"{place}: texts overlap: {pair}")
            browser.screenshot(f"{folder}/{name}-{width}-{theme}.png")
            colour = browser.evaluate("getComputedStyle(document.body).backgroundColor")
            light = sum(map(int, colour[4:-1].split(","))) > 384
            check(light == (theme == "light"), f"{place} has the background {colour}")


def expected_bands(report, problem, plan):
    """By kernel: bytes of each band, from the plan's text and names alone."""
    layer_of = {row[1]: row[2] for row in report["value_table"]["data"]}
    band_of = [row[1] for row in report["layer_table"]["data"]]
    names = report["bands"]
    kernels = [collections.Counter() for _ in plan.kernels]
    in_use = [set() for _ in plan.kernels]
    # A later value counts where it took over the place of an earlier one.
    for stay in sorted(liveness.stays(problem, plan), key=lambda stay: -stay.first):
        band = names[band_of[layer_of[problem.values[stay.value].name]]]
        for number in range(stay.first, stay.last + 1):
            if stay.offset not in in_use[number]:
                in_use[number].add(stay.offset)
                kernels[number][band] += stay.bytes
    for number, kernel in enumerate(plan.kernels):
        size = liveness.workspace(problem, kernel)
        if size:
            kernels[number]["workspace of kernels"] += size
    return kernels


def check_bands(browser, folder, name):
    """Walks over kernels with keys; every band has the bytes that the plan gives it."""
    def read(suffix):
        with open(f"{folder}/{name}.{suffix}", encoding="utf-8") as file:
            return file.read()
    report = json.loads(re.search(r'id="report">(.*?)</script>', read("html"), re.S)[1])
    problem, plan = liveness.Problem(read("problem")), liveness.Plan(read("plan"))
    bands = expected_bands(report, problem, plan)
    live = liveness.live_bytes(problem, plan)
    browser.open(f"{folder}/{name}.html")
    browser.evaluate("document.getElementById('chart').focus()")
    title = "document.getElementById('live-title').dataset"
    check(int(browser.evaluate(f"{title}.kernel")) == live.index(max(live)),
          f"{name} does not open at the peak")
    browser.press("Home")
    steps = max(1, len(live) // 150)
    for number in range(0, len(live), steps):
        check(int(browser.evaluate(f"{title}.kernel")) == number, f"{name}: keys go elsewhere")
        shown = dict(browser.evaluate(BYTES))
        check(int(browser.evaluate(f"{title}.bytes")) == live[number]
              and sum(shown.values()) == live[number],
              f"{name}, kernel {number}: {sum(shown.values())} bytes for {live[number]}")
        check(shown == dict(bands[number]),
              f"{name}, kernel {number}: bands {shown} for {dict(bands[number])}")
        for _ in range(min(steps, len(live) - 1 - number)):
            browser.press("ArrowRight")
    browser.press("p", "p")
    check(int(browser.evaluate(f"{title}.kernel")) == live.index(max(live)),
          f"{name}: P does not lead to the peak")


def check_keyboard(browser, folder, name):
    """Tab to the first band, open it and its first layer, search."""
    browser.open(f"{folder}/{name}.html")
    active = "document.activeElement"
    for _ in range(40):
        browser.press("Tab")
        if browser.evaluate(f"{active}.id") == "chart":
            break
    check(browser.evaluate(f"{active}.id") == "chart", f"{name}: Tab never reaches the chart")
    check(browser.evaluate(f"{active}.getAttribute('role') + {active}.ariaValueText.slice(0, 7)")
          == "sliderKernel ", f"{name}: the chart says nothing to a screen reader")
    strips = "document.querySelectorAll('#chart .strip').length"
    before = browser.evaluate(strips)
    for level in (1, 2):
        while browser.evaluate(f"{active}.tagName") != "SUMMARY" or level == 2:
            browser.press("Tab")
            if browser.evaluate(f"{active}.tagName") == "SUMMARY":
                break
        browser.press("Enter")
        # The event of an opened element comes with the next frame.
        browser.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
        own, children = browser.evaluate(
            f"(() => {{ const item = {active}.closest('li');"
            "return [Number(item.dataset.bytes), [...item.querySelector('ul').children].map("
            "child => Number(child.dataset.bytes))]; })()")
        check(children and sum(children) == own,
              f"{name}, level {level}: {children} for {own} bytes")
    check(browser.evaluate(strips) > before, f"{name}: the picture does not open with the list")
    word = browser.evaluate("document.querySelector('#live details details li .name').textContent")
    browser.evaluate("document.getElementById('search').focus()")
    browser.call("Input.insertText", text=word)
    found = browser.evaluate("[...document.querySelectorAll('#matches .name')].map("
                             "each => each.textContent)")
    check(word in found, f"{name}: a search for {word} finds {found}")
    check(not browser.complaints(), f"{name}: {browser.complaints()}")
    check(browser.call("Page.printToPDF")["data"].startswith("JVBER"), f"{name} does not print")


def check_markup(browser, folder):
    """Names that would be markup are text."""
    browser.open(f"{folder}/markup.html")
    browser.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    browser.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))")
    browser.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    browser.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))")
    check(not browser.complaints(), f"markup: {browser.complaints()}")
    check(browser.evaluate("document.images.length + document.scripts.length") == 2,
          "markup in names became elements")
    text = browser.evaluate("document.body.innerText")
    for name in ("<img src=x onerror=alert(1)>", "</script><script>alert(2)</script><!--",
                 "<svg onload=alert(3)> \"quoted\" & 'so'"):
        check(name in text, f"expected the text {name}")
    browser.open(f"{folder}/markup.svg")
    check(not browser.complaints(), f"markup.svg: {browser.complaints()}")
    check(browser.evaluate("document.querySelectorAll('script, img').length") == 0,
          "markup in names became elements of the picture")


def main(folder, *names):
    with Browser() as browser:
        for name in names:
            check_looks(browser, folder, name)
            check_bands(browser, folder, name)
            check_keyboard(browser, folder, name)
            print(f"{name}: looks, bands, keys, {os.path.getsize(f'{folder}/{name}.html')} bytes")
        check_markup(browser, folder)
        print("markup: nothing happens")


try:
    main(*sys.argv[1:])
except PageError as error:
    sys.exit(f"error: {error}")
