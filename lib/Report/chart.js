// chart.js - Pictures: memory over time in bands, and the frontier.

const svgNamespace = "http://www.w3.org/2000/svg";

/** An element; attributes and texts never become markup. */
function make(tag, attributes = {}, ...children) {
  const isSvg = ["svg", "path", "line", "text", "g", "circle", "title", "rect"]
    .includes(tag);
  const element = isSvg ? document.createElementNS(svgNamespace, tag)
                        : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** A range of numbers on the page, ticks at 1, 2 or 5 times a power of 10. */
class Axis {
  constructor(low, high, from, to) {
    Object.assign(this, {low, high: high > low ? high : low + 1, from, to});
  }

  at(value) {
    return this.from +
      (value - this.low) / (this.high - this.low) * (this.to - this.from);
  }

  ticks(most) {
    const rough = (this.high - this.low) / Math.max(1, most);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find(factor => power * factor >= rough);
    const ticks = [];
    for (let i = Math.ceil(this.low / step); i * step <= this.high; ++i)
      ticks.push(i * step);
    return ticks;
  }
}

function unitFor(bytes) {
  let unit = 1, name = "B";
  for (const larger of ["KiB", "MiB", "GiB", "TiB"])
    if (bytes >= 4 * 1024 * unit) {
      unit *= 1024;
      name = larger;
    }
  return {unit, name};
}

const plain = number => String(Number(number.toPrecision(6)));
const place = number => number.toFixed(1);

/** Lines and numbers of both axes, and what stands between them. */
function drawFrame(svg, x, y, units) {
  const bottom = y.from, left = x.from;
  for (const tick of y.ticks(6)) {
    svg.append(make("line", {class: "grid", x1: left, x2: x.to,
                             y1: place(y.at(tick)), y2: place(y.at(tick))}));
    svg.append(make("text", {x: left - 6, y: place(y.at(tick) + 4),
                             "text-anchor": "end"}, plain(tick)));
  }
  for (const tick of x.ticks(Math.floor((x.to - x.from) / 60)))
    svg.append(make("text", {x: place(x.at(tick)), y: bottom + 17,
                             "text-anchor": "middle"}, plain(tick)));
  svg.append(make("text", {x: 2, y: 12, class: "unit"}, units.y));
  svg.append(make("text", {x: x.to, y: bottom + 33, "text-anchor": "end",
                           class: "unit"}, units.x));
}

/** The kernels to draw: all, or of each column the one with most bytes. */
function columnsOf(bytes, begins, x) {
  const columns = Math.max(1, Math.floor(x.to - x.from));
  if (bytes.length <= 2 * columns)
    return {kernels: bytes.map((_, k) => k), isSampled: false};
  const largest = new Map();
  for (let k = 0; k < bytes.length; ++k) {
    const column = Math.floor(x.at(begins[k]));
    const known = largest.get(column);
    if (known === undefined || bytes[k] > bytes[known])
      largest.set(column, k);
  }
  return {kernels: [...largest.values()], isSampled: true};
}

/** A stair through the columns: right to each begin, then up or down. */
function stair(columns, begins, end, heights, x, y) {
  let path = "", before = null;
  columns.forEach((kernel, i) => {
    const height = place(y.at(heights(kernel)));
    if (height === before)
      return;
    path += `${i ? "H" : "M"}${place(x.at(begins[kernel]))}` +
      `${i ? "V" : " "}${height}`;
    before = height;
  });
  return path + `H${place(x.at(end))}`;
}

/** The same backwards, for the lower edge of a strip. */
function stairBack(columns, begins, end, heights, x, y) {
  let path = `L${place(x.at(end))} `, before = null;
  for (let i = columns.length - 1; i >= 0; --i) {
    const height = place(y.at(heights(columns[i])));
    if (height !== before)
      path += before === null ? height : `V${height}`;
    before = height;
    const next = i ? place(y.at(heights(columns[i - 1]))) : null;
    if (next !== height)
      path += `H${place(x.at(begins[columns[i]]))}`;
  }
  return path + "Z";
}

/** Nodes to draw: open ones are replaced by their children. */
function stripsOf(nodes) {
  return nodes.flatMap(node =>
    node.isOpen ? stripsOf(node.children) : [node]);
}

class MemoryChart {
  constructor(svg) { this.svg = svg; }

  draw(width, height, matched) {
    const totalNs = Math.max(starts[kernels.length],
                             startTimes(baseline)[baseline.length]);
    const budget = report.budget_bytes;
    const highest = Math.max(largestOf(live), budget,
      largestOf(Float64Array.from(baseline, kernel => kernel.live_bytes)));
    const {unit, name} = unitFor(highest);
    const timeUnit = totalNs < 1e5 ? [1e3, "\u00b5s"] : totalNs < 1e9
      ? [1e6, "ms"] : [1e9, "s"];
    this.x = new Axis(0, totalNs / timeUnit[0], 62, width - 10);
    this.y = new Axis(0, 1.04 * highest / unit, height - 42, 22);
    this.scale = timeUnit[0];
    this.begins = starts.map(start => start / this.scale);
    this.unit = unit;
    this.svg.replaceChildren();
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.setAttribute("height", height);
    drawFrame(this.svg, this.x, this.y,
              {x: `time by the cost model, ${timeUnit[1]}`, y: name});
    this.columns = columnsOf(live, this.begins, this.x);
    this.drawStrips();
    this.drawLines(budget, matched);
    this.cursorLine = make("line", {class: "cursor", y1: this.y.to,
                                    y2: this.y.from});
    this.svg.append(this.cursorLine);
    return this.columns.isSampled;
  }

  drawStrips() {
    const {kernels: columns} = this.columns;
    const end = this.begins[kernels.length];
    const below = new Float64Array(kernels.length);
    const group = make("g", {class: "strips"});
    this.strips = stripsOf(roots);
    this.strips.forEach((node, i) => {
      const {series} = node;
      const base = k => below[k] / this.unit;
      const top = k => (below[k] + series[k]) / this.unit;
      const path = make("path", {
        class: `strip ${node.kind}${i % 2 ? " odd" : ""}`,
        style: `--hue:${hueOf(node)}`,
        d: stair(columns, this.begins, end, top, this.x, this.y) +
           stairBack(columns, this.begins, end, base, this.x, this.y)},
        make("title", {}, node.name));
      group.append(path);
      for (const k of columns)
        below[k] += series[k];
    });
    this.svg.append(group);
  }

  drawLines(budget, matched) {
    const {x, y, unit, begins} = this;
    const {kernels: columns} = this.columns;
    const add = (kind, d) =>
      this.svg.append(make("path", {class: `line ${kind}`, d}));
    const end = begins[kernels.length];
    if (recomputations.length) {
      const kept = k => Math.min(y.high, (live[k] + freed[k]) / unit);
      add("kept", stair(columns, begins, end, kept, x, y));
      add("again", recomputations.map(again =>
        `M${place(x.at(begins[again.kernel]))} ${y.from + 1}v5`).join(""));
    }
    const others = startTimes(baseline).map(start => start / this.scale);
    const bytes = Float64Array.from(baseline, kernel => kernel.live_bytes);
    add("baseline", stair(columnsOf(bytes, others, x).kernels, others,
                          others[baseline.length], k => bytes[k] / unit, x, y));
    if (matched)
      add("matched", stair(columns, begins, end, k => matched[k] / unit, x, y));
    if (budget >= 0)
      add("budget", `M${x.from} ${place(y.at(budget / unit))}H${x.to}`);
  }

  moveCursor(kernel) {
    const middle = (this.begins[kernel] + this.begins[kernel + 1]) / 2;
    for (const end of ["x1", "x2"])
      this.cursorLine.setAttribute(end, place(this.x.at(middle)));
  }

  /** The kernel under a place of the picture. */
  kernelAt(place) {
    const time = this.x.low + (place - this.x.from) /
      (this.x.to - this.x.from) * (this.x.high - this.x.low);
    let low = 0, high = kernels.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.begins[middle] <= time)
        low = middle;
      else
        high = middle - 1;
    }
    return low;
  }
}

function hueOf(node) {
  return node.band < 0 ? 0 : Math.round(360 * node.band / bands.length);
}

/** The curve of arena against time, its bound, and the plan of this page. */
function drawFrontier(svg, width, height) {
  const bytes = frontier.map(row => row.arena_bytes);
  const {unit, name} = unitFor(Math.max(...bytes, report.peak_bytes));
  const times = frontier.flatMap(row => [row.time_ns, row.time_bound_ns || row.time_ns]);
  times.push(report.cost_ns);
  const x = new Axis(0, 1.05 * Math.max(...bytes, report.peak_bytes) / unit, 62,
                     width - 10);
  const low = Math.min(...times) / 1e6, high = Math.max(...times) / 1e6;
  const margin = 0.06 * (high - low || high);
  const y = new Axis(Math.max(0, low - margin), high + margin, height - 42, 22);
  svg.replaceChildren();
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("height", height);
  drawFrame(svg, x, y, {x: `arena, ${name}`, y: "ms"});
  const curve = (kind, at, time) => svg.append(make("path", {
    class: `line ${kind}`,
    d: frontier.map((row, i) => `${i ? "L" : "M"}` +
      `${place(x.at(row[at] / unit))} ${place(y.at(row[time] / 1e6))}`).join("")}));
  if (frontier.every(row => row.time_bound_ns > 0))
    curve("kept", "budget_bytes", "time_bound_ns");
  curve("curve", "arena_bytes", "time_ns");
  for (const row of frontier)
    svg.append(make("circle", {class: "point", r: 3,
      cx: place(x.at(row.arena_bytes / unit)), cy: place(y.at(row.time_ns / 1e6))}));
  svg.append(make("circle", {class: "chosen", r: 7,
    cx: place(x.at(report.peak_bytes / unit)), cy: place(y.at(report.cost_ns / 1e6))}));
}
