// data.js - The report's tables as a tree of bands, layers and values.
//
// Every node has a list of live ranges and, once somebody asks, a series: its
// bytes at each kernel. The series of a node's children add up to its own.
"use strict";

const report = JSON.parse(document.getElementById("report").textContent);

/** Rows of a table as objects with the names of its columns. */
function rowsOf(table) {
  return table.data.map(cells =>
    Object.fromEntries(table.columns.map((name, i) => [name, cells[i]])));
}

const bands = report.bands;
const layers = rowsOf(report.layer_table);
const values = rowsOf(report.value_table);
const kernels = rowsOf(report.kernel_table);
const baseline = rowsOf(report.baseline_table);
const ranges = rowsOf(report.live_range_table);
const recomputations = rowsOf(report.recomputation_table);
const frontier = rowsOf(report.frontier_table);

/** Where each kernel starts, in nanoseconds, and where the last one ends. */
function startTimes(rows) {
  const starts = new Float64Array(rows.length + 1);
  rows.forEach((row, i) => { starts[i + 1] = starts[i] + row.time_ns; });
  return starts;
}

/** Bytes at each kernel of intervals [first, last]. */
function sumSeries(intervals) {
  const series = new Float64Array(kernels.length + 1);
  for (const {first, last, bytes} of intervals) {
    if (last < first)
      continue;
    series[first] += bytes;
    series[last + 1] -= bytes;
  }
  for (let k = 1; k < series.length; ++k)
    series[k] += series[k - 1];
  return series.subarray(0, kernels.length);
}

class Entry {
  constructor(kind, name, band, nodeRanges) {
    this.kind = kind;
    this.name = name;
    this.band = band;
    this.ranges = nodeRanges;
    this.isOpen = false;
  }

  get series() {
    this.cachedSeries ??= this.kind === "workspace"
      ? Float64Array.from(kernels, kernel => kernel.workspace_bytes)
      : sumSeries(this.ranges);
    return this.cachedSeries;
  }

  get canOpen() { return this.kind === "band" || this.kind === "layer"; }

  get children() {
    this.cachedChildren ??= this.kind === "band" ? layersOf(this)
      : this.kind === "layer" ? valuesOf(this) : [];
    return this.cachedChildren;
  }
}

function groupBy(items, key) {
  const groups = new Map();
  for (const item of items) {
    const at = key(item);
    if (!groups.has(at))
      groups.set(at, []);
    groups.get(at).push(item);
  }
  return groups;
}

function layersOf(band) {
  const groups = groupBy(band.ranges, range => values[range.value].layer);
  return [...groups].map(([layer, own]) =>
    new Entry("layer", layers[layer].name, band.band, own));
}

/** The values of a layer; of many, the largest, and the others together. */
function valuesOf(layer) {
  const most = 60;
  const weight = node => node.ranges.reduce((sum, range) =>
    sum + range.bytes * (range.last - range.first + 1), 0);
  const nodes = [...groupBy(layer.ranges, range => range.value)].map(
    ([value, own]) => new Entry("value", values[value].name, layer.band, own));
  if (nodes.length <= most)
    return nodes;
  nodes.sort((a, b) => weight(b) - weight(a));
  const others = nodes.slice(most);
  return [...nodes.slice(0, most),
          new Entry("others", `${others.length} smaller values`, layer.band,
                   others.flatMap(node => node.ranges))];
}

/** Bands in their order, the workspace of kernels last. */
function makeRoots() {
  const groups =
    groupBy(ranges, range => layers[values[range.value].layer].band);
  const roots = bands.map((name, i) =>
    new Entry("band", name, i, groups.get(i) ?? []));
  if (kernels.some(kernel => kernel.workspace_bytes > 0))
    roots.push(new Entry("workspace", "workspace of kernels", -1, []));
  return roots.filter(root => root.kind === "workspace" || root.ranges.length);
}

const roots = makeRoots();
const starts = startTimes(kernels);
const live = Float64Array.from(kernels, kernel => kernel.live_bytes);
const largestOf = series => series.reduce((a, b) => Math.max(a, b), 0);
const peakKernel = Math.max(0, live.indexOf(largestOf(live)));

/** Memory that recomputation frees at each kernel. */
const freed = sumSeries(recomputations.map(again =>
  ({first: again.freed_first, last: again.freed_last, bytes: again.bytes})));

function formatBytes(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (unit + 1 < units.length && bytes >= 10 * 1024) {
    bytes /= 1024;
    ++unit;
  }
  const digits = unit === 0 ? 0 : bytes < 100 ? 1 : 0;
  return bytes.toLocaleString("en-US",
    {minimumFractionDigits: digits, maximumFractionDigits: digits}) +
    "\u00a0" + units[unit];
}

function formatTime(ns) {
  const [scale, unit] = ns < 1e5 ? [1e3, "\u00b5s"] : ns < 1e9 ? [1e6, "ms"]
                                                               : [1e9, "s"];
  return (ns / scale).toLocaleString("en-US", {maximumFractionDigits: 3}) +
    "\u00a0" + unit;
}

function formatShare(part, whole) {
  return (whole ? 100 * part / whole : 0).toFixed(2) + "\u00a0%";
}
