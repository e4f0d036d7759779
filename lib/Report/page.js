// page.js - The sections of the page, and what keys and clicks do.

const page = document.getElementById("page");
const flops = Math.max(1, report.flops);
let cursor = peakKernel;
let matchedSeries = null;

function section(title, ...children) {
  const name = title.toLowerCase().replace(/[^a-z]+/g, "-");
  const id = `title-${name}`;
  const element = make("section", {"aria-labelledby": id, class: name},
                       make("h2", {id}, title), ...children);
  page.append(element);
  return element;
}

/** A table in a box of its own, which scrolls where it is too wide. */
function tableOf(caption, heads, rows) {
  const body = make("tbody", {}, ...rows.map(cells =>
    make("tr", {}, ...cells.map((cell, i) =>
      make(i ? "td" : "th", i ? {} : {scope: "row"}, cell)))));
  return make("div", {class: "scroll", tabindex: "0", role: "region",
                      "aria-label": caption},
    make("table", {}, make("thead", {}, make("tr", {}, ...heads.map(head =>
      make("th", {scope: "col"}, head)))), body));
}

/** "model.py:12" as a link to the file; the scheme is never the name's own. */
function sourceLink(index) {
  const text = report.sources[index];
  const path = text.replace(/:\d+$/, "").split("/").map(encodeURIComponent);
  const href = (text.startsWith("/") ? "file://" : "./") + path.join("/");
  return make("a", {href, class: "source"}, text);
}

//===-- Figures -----------------------------------------------------------===//

function figuresSection() {
  const bytes = key => formatBytes(report[key]);
  const rows = [
    ["as written", bytes("written_peak_bytes"), bytes("written_bytes_moved"), ""],
    ["without recomputation (baseline)", bytes("baseline_peak_bytes"),
     bytes("baseline_bytes_moved"), formatTime(report.baseline_cost_ns)],
    ["plan", bytes("peak_bytes"), bytes("bytes_moved"), formatTime(report.cost_ns)]];
  if (report.step_ns !== undefined)
    rows.push(["plan, measured", "measured_peak_bytes" in report
      ? bytes("measured_peak_bytes") : "", "", formatTime(report.step_ns)]);
  const lines = [];
  if (!report.feasible)
    lines.push(`No plan was found within the budget of ${bytes("budget_bytes")}. ` +
      `The page shows the smallest plan that was found. No plan at all takes ` +
      `less than ${bytes("minimum_budget_bound_bytes")}.`);
  else if (report.budget_bytes >= 0)
    lines.push(`Budget ${bytes("budget_bytes")}; the arena takes ${bytes("peak_bytes")}.`);
  const within = report.budget_bytes >= 0 && report.feasible
    ? "within the budget" : "in this arena";
  lines.push(
    `Extra work: ${formatShare(report.extra_flops, flops)} of the step's FLOPs. ` +
    `Proven for any plan ${within}, in any order and with any fusion: at least ` +
    `${formatShare(report.extra_flops_bound, flops)}.`);
  lines.push(report.cost_bound_ns > 0
    ? `Time by the cost model: ${formatTime(report.cost_ns)}. Proven for any ` +
      `plan ${within}: at least ${formatTime(report.cost_bound_ns)}.`
    : `Time by the cost model: ${formatTime(report.cost_ns)}; no bound on time ` +
      `is proven for so many ops.`);
  section("Figures", make("p", {}, report.strategy),
    tableOf("Figures", ["", "peak", "bytes moved", "time"], rows),
    ...lines.concat(report.warning || [], report.notes).map(line => make("p", {}, line)));
}

//===-- Memory over time --------------------------------------------------===//

const svg = make("svg", {width: "100%", "aria-hidden": "true"});
const chart = new MemoryChart(svg);
const slider = make("div", {
  role: "slider", tabindex: "0", id: "chart", "aria-label":
    "Kernel of the step; the list below shows who is live there",
  "aria-valuemin": 0, "aria-valuemax": Math.max(0, kernels.length - 1)}, svg);
const sampling = make("p", {class: "note", id: "sampling"});
const searchBox = make("input", {type: "search", id: "search",
                                 autocomplete: "off", spellcheck: "false"});
const searchResult = make("div", {id: "matches", "aria-live": "polite"});
const liveTitle = make("p", {id: "live-title"});
const liveList = make("ul", {class: "tree", id: "live"});

function legend() {
  const entry = (kind, text) => make("li", {}, (() => {
    const key = make("svg", {class: "key", viewBox: "0 0 28 10", width: 28,
                             height: 10, "aria-hidden": "true"});
    key.append(make("path", {class: `line ${kind}`, d: "M0 5H28"}));
    return key;
  })(), text);
  const entries = [entry("baseline", "without recomputation (baseline)")];
  if (report.budget_bytes >= 0)
    entries.push(entry("budget", "budget"));
  if (recomputations.length) {
    entries.push(entry("kept",
      "this order, with the values kept that are recomputed"));
    entries.push(entry("ticks", "marks below: kernels that recompute"));
  }
  return make("ul", {class: "legend"}, ...entries);
}

function redraw() {
  if (!kernels.length)
    return;
  const width = Math.max(280, slider.clientWidth);
  const isSampled =
    chart.draw(width, width < 600 ? 300 : 420, matchedSeries);
  sampling.textContent = isSampled
    ? `The step has ${kernels.length.toLocaleString("en-US")} kernels, more ` +
      `than the picture has columns: each column shows its kernel with the ` +
      `most live bytes. Lists and keys know all kernels.` : "";
  chart.moveCursor(cursor);
}

function kernelName(kernel) {
  const {value} = kernels[kernel];
  return value < 0 ? "a kernel without results" : values[value].name;
}

function moveCursorTo(kernel) {
  cursor = Math.min(Math.max(0, kernel), kernels.length - 1);
  chart.moveCursor(cursor);
  const budget = report.budget_bytes >= 0
    ? ` of ${formatBytes(report.budget_bytes)} budget` : "";
  const text = `Kernel ${cursor} of ${kernels.length}` +
    `${cursor === peakKernel ? ", the peak" : ""}: ${kernelName(cursor)}; ` +
    `${formatBytes(live[cursor])} live${budget}` +
    ({none: "", some: "; computes some ops again",
      all: "; runs only to recompute"})[kernels[cursor].repeats];
  slider.setAttribute("aria-valuenow", cursor);
  slider.setAttribute("aria-valuetext", text);
  liveTitle.textContent = text;
  liveTitle.dataset.kernel = cursor;
  liveTitle.dataset.bytes = live[cursor];
  fillTree(liveList, roots);
}

const keySteps = {ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1};

function onKey(event) {
  const page = Math.max(1, Math.round(kernels.length / 20));
  const targets = {Home: 0, End: kernels.length - 1, PageUp: cursor + page,
                   PageDown: cursor - page, p: peakKernel};
  const target = event.key in keySteps ? cursor + keySteps[event.key]
                                       : targets[event.key];
  if (target === undefined || event.ctrlKey || event.metaKey || event.altKey)
    return;
  event.preventDefault();
  moveCursorTo(target);
}

function onPointer(event) {
  if (event.type === "pointermove" && !event.buttons)
    return;
  const box = svg.getBoundingClientRect();
  moveCursorTo(chart.kernelAt(event.clientX - box.left));
}

//===-- Who is live -------------------------------------------------------===//

function describeRange(range) {
  return `kernels ${range.first} to ${range.last}` +
    `${range.recomputed ? ", recomputed" : ""}`;
}

/** Name, bytes and, of a value, where it is live and where it comes from. */
function rowParts(node) {
  const parts = [
    make("span", {class: `swatch ${node.kind}`, style: `--hue:${hueOf(node)}`,
                  "aria-hidden": "true"}),
    make("span", {class: "name"}, node.name), " ",
    make("span", {class: "bytes"}, formatBytes(node.series[cursor]))];
  if (node.kind !== "value")
    return parts;
  const range = node.ranges.find(each =>
    each.first <= cursor && each.last >= cursor);
  const {source} = values[range.value];
  parts.push(make("span", {class: "more"}, describeRange(range), " ",
                  ...(source >= 0 ? [sourceLink(source)] : [])));
  return parts;
}

function treeItem(node) {
  const attributes = {"data-bytes": node.series[cursor], "data-kind": node.kind};
  if (!node.canOpen)
    return make("li", attributes, make("div", {class: "row"}, ...rowParts(node)));
  const list = make("ul");
  const details = make("details", node.isOpen ? {open: ""} : {},
    make("summary", {class: "row"}, ...rowParts(node)), list);
  if (node.isOpen)
    fillTree(list, node.children);
  details.addEventListener("toggle", () => {
    if (details.open === node.isOpen)
      return;
    node.isOpen = details.open;
    fillTree(list, node.isOpen ? node.children : []);
    redraw();
  });
  return make("li", attributes, details);
}

/** The nodes that are live at the cursor, most bytes first. */
function fillTree(list, nodes) {
  const shown = nodes.filter(node => node.series[cursor] > 0)
    .sort((a, b) => b.series[cursor] - a.series[cursor]);
  list.replaceChildren(...shown.map(treeItem));
}

function memorySection() {
  const peak = make("button", {type: "button"}, "Go to the peak");
  peak.addEventListener("click", () => moveCursorTo(peakKernel));
  section("Memory over time",
    make("p", {class: "note"}, "Bands are layers, from the first at the bottom. " +
      "Arrow keys, Page Up, Page Down, Home, End and P move the cursor."),
    slider, legend(), sampling);
  section("Live at the cursor", peak, liveTitle, liveList,
    make("p", {class: "note"}, "An open band shows its layers, an open layer its " +
      "values; the picture opens with it."));
  slider.addEventListener("keydown", onKey);
  for (const type of ["pointerdown", "pointermove"])
    slider.addEventListener(type, onPointer);
}

//===-- Search ------------------------------------------------------------===//

function matchItem(value, own) {
  const buttons = own.slice(0, 4).map(range => {
    const button = make("button", {type: "button"}, describeRange(range));
    button.addEventListener("click", () => moveCursorTo(range.first));
    return button;
  });
  const {name, bytes, source} = values[value];
  return make("li", {}, make("span", {class: "name"}, name), " ",
    make("span", {class: "bytes"}, formatBytes(bytes)), " ", ...buttons,
    ...(source >= 0 ? [" ", sourceLink(source)] : []));
}

function search() {
  const most = 50;
  const word = searchBox.value.trim().toLowerCase();
  const fits = value => [value.name, layers[value.layer].name,
    report.sources[value.source] ?? ""].some(text =>
    text.toLowerCase().includes(word));
  const isMatch = values.map(value => word !== "" && fits(value));
  const matches = ranges.filter(range => isMatch[range.value]);
  const groups = [...groupBy(matches, range => range.value)].sort((a, b) =>
    values[b[0]].bytes - values[a[0]].bytes);
  matchedSeries = matches.length ? sumSeries(matches) : null;
  searchResult.replaceChildren();
  if (word) {
    const limit = groups.length > most ? `, the largest ${most} of them here` : "";
    searchResult.append(make("p", {}, groups.length
      ? `${groups.length} values in memory, at most ` +
        `${formatBytes(largestOf(matchedSeries))} at once${limit}.`
      : "No value in memory has such a name."),
      make("ul", {class: "matches"}, ...groups.slice(0, most).map(
        ([value, own]) => matchItem(value, own))));
  }
  redraw();
}

function searchSection() {
  section("Search", make("label", {for: "search"},
    "Name of a value or layer, or file of the source"), searchBox, searchResult);
  searchBox.addEventListener("input", search);
}

//===-- Recomputation -----------------------------------------------------===//

/** Rows by layer: values, FLOPs, time of kernels of their own, memory. */
function recomputationRows() {
  const byLayer =
    groupBy(recomputations, again => values[again.value].layer);
  const rows = [...byLayer].map(([layer, own]) => {
    const only = new Set(own.map(again => again.kernel)
      .filter(kernel => kernels[kernel].repeats === "all"));
    const series = sumSeries(own.map(again =>
      ({first: again.freed_first, last: again.freed_last, bytes: again.bytes})));
    return {layer, own, most: largestOf(series), atPeak: series[peakKernel],
            flops: own.reduce((sum, again) => sum + again.flops, 0),
            timeNs: [...only].reduce((sum, k) => sum + kernels[k].time_ns, 0)};
  });
  return rows.sort((a, b) => b.most - a.most);
}

function recomputationSection() {
  if (!recomputations.length) {
    section("Recomputed", make("p", {}, "Nothing that stands in memory is recomputed."));
    return;
  }
  const shown = 40, rows = recomputationRows();
  section("Recomputed",
    make("p", {}, "Values that are computed again, by layer: when, at what price, " +
      "and how much memory is free meanwhile."),
    tableOf("Recomputed, by layer",
      ["layer", "values", "kernels", "FLOPs", "time of its own kernels",
       "frees at most", "frees at the peak"],
      rows.slice(0, shown).map(({layer, own, most, atPeak, flops: work, timeNs}) => {
        const at = own.map(again => again.kernel);
        const from = at[0], to = at[at.length - 1];
        return [layers[layer].name, String(own.length),
                from === to ? String(from) : `${from} to ${to}`,
                formatShare(work, flops), formatTime(timeNs),
                formatBytes(most), formatBytes(atPeak)];
      })),
    ...(rows.length > shown
      ? [make("p", {class: "note"}, `and ${rows.length - shown} more layers`)] : []));
}

//===-- Frontier ----------------------------------------------------------===//

const frontierSvg = make("svg", {width: "100%", role: "img", "aria-label":
  "Time against arena; the table below has the numbers"});

function frontierSection() {
  if (!frontier.length)
    return;
  section("Frontier",
    make("p", {}, "Time against memory for several budgets: the line is of plans " +
      "that were found, dashes are the proven bound, the ring is this plan."),
    frontierSvg,
    tableOf("Frontier", ["budget", "arena", "time", "at least", "extra work", "at least"],
      frontier.map(row => [formatBytes(row.budget_bytes), formatBytes(row.arena_bytes),
        formatTime(row.time_ns), row.time_bound_ns ? formatTime(row.time_bound_ns) : "",
        formatShare(row.extra_flops, flops),
        formatShare(row.extra_flops_bound, flops)])));
}

//===-- All of it ---------------------------------------------------------===//

function drawAll() {
  redraw();
  if (frontier.length)
    drawFrontier(frontierSvg, Math.max(280, frontierSvg.clientWidth), 300);
}

page.replaceChildren();
figuresSection();
memorySection();
searchSection();
recomputationSection();
frontierSection();
drawAll();
if (kernels.length)
  moveCursorTo(peakKernel);
new ResizeObserver(drawAll).observe(page);
document.documentElement.dataset.drawnMs = Math.round(performance.now());
