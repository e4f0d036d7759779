//===- WriteSvg.cpp - Memory over time as a picture for papers ------------===//
//
// Draws the same as the page when it opens: bands of layers, the baseline, the
// budget and the kernels that recompute. Colours follow the viewer's light or
// dark scheme; the file needs no other.
//
//===----------------------------------------------------------------------===//

#include "Json.h"
#include "Writers.h"
#include "ckpt/Plan/Budget.h"
#include "ckpt/Plan/Svg.h"

using namespace ckpt;
using namespace ckpt::plan::report;
using ckpt::plan::svg::Axis;
using ckpt::plan::svg::number;

namespace {

constexpr const char *style = R"(svg{font:13px sans-serif;background:#fff}
text{fill:#1d2025}.axis{stroke:#777;fill:none}.grid{stroke:#ddd}
.band{stroke:#fff;stroke-width:.4}.work{fill:#888}
.line{fill:none;stroke:#1d2025;stroke-width:1.6}.base{stroke-dasharray:7 3}
.budget{stroke:#b3400a;stroke-width:2}.again{stroke:#0a58ca;stroke-width:1}
@media (prefers-color-scheme:dark){svg{background:#14161a}text{fill:#e4e7eb}
.grid{stroke:#333}.band{stroke:#14161a;filter:brightness(.7)}
.line{stroke:#e4e7eb}.budget{stroke:#ff9a5c}.again{stroke:#7db4ff}})";

constexpr double width = 920, height = 460, left = 70, right = 24, top = 52;
constexpr double bottom = height - 56, rowHeight = 19;
constexpr size_t mostColumns = 1600;

/// Bytes at each kernel drawn, and the times at which the kernels begin.
struct Columns {
  std::vector<int32_t> kernels;
  std::vector<double> begins;
  double end = 0;
};

/// All kernels, or of each of `mostColumns` parts of the time the kernel with
/// the most live bytes.
Columns columnsOf(const std::vector<ReportKernel> &kernels) {
  double total = 0, now = 0;
  for (const ReportKernel &kernel : kernels)
    total += static_cast<double>(kernel.timeNs);
  Columns columns;
  columns.end = total;
  bool isSampled = kernels.size() > 2 * mostColumns;
  int64_t lastColumn = -1;
  for (size_t k = 0; k < kernels.size(); ++k) {
    auto column =
        static_cast<int64_t>(mostColumns * now / std::max(1.0, total));
    if (!isSampled || column != lastColumn) {
      columns.kernels.push_back(static_cast<int32_t>(k));
      columns.begins.push_back(now);
    } else if (kernels[k].liveBytes >
               kernels[columns.kernels.back()].liveBytes) {
      columns.kernels.back() = static_cast<int32_t>(k);
    }
    lastColumn = column;
    now += static_cast<double>(kernels[k].timeNs);
  }
  return columns;
}

class Picture {
public:
  Picture(const StepReport &report, std::ostream &os)
      : report(report), os(os), planned(columnsOf(report.kernels)),
        baseline(columnsOf(report.baselineKernels)) {}
  void print();

private:
  void chooseAxes();
  void frame();
  void bands();
  void band(const std::vector<int64_t> &base, const std::vector<int64_t> &tip,
            const std::string &attributes, const std::string &name);
  void lines();
  void legend();
  std::string stair(const Columns &columns, const std::vector<int64_t> &bytes);
  void text(double x, double y, const char *anchor, const std::string &what) {
    os << "<text x=\"" << number(x) << "\" y=\"" << number(y)
       << "\" text-anchor=\"" << anchor << "\">"
       << plan::svg::escape(validUtf8(what)) << "</text>\n";
  }
  std::string hue(size_t band) const {
    return "fill=\"hsl(" +
           std::to_string(360 * band /
                          std::max<size_t>(1, report.bands.size())) +
           " 52% " + (band % 2 ? "70%" : "62%") + ")\"";
  }
  double atX(double ns) const { return x.at(ns / 1e6); }
  double atY(int64_t bytes) const {
    return y.at(static_cast<double>(bytes) / unitBytes);
  }

  const StepReport &report;
  std::ostream &os;
  Columns planned, baseline;
  Axis x = {0, 1, left, width - right}, y = {0, 1, bottom, top};
  double unitBytes = 1;
  const char *unit = "B";
};

} // namespace

void Picture::chooseAxes() {
  int64_t highest = integerOf(report.figures, "budget_bytes").value_or(-1);
  for (const auto *kernels : {&report.kernels, &report.baselineKernels})
    for (const ReportKernel &kernel : *kernels)
      highest = std::max(highest, kernel.liveBytes);
  for (const char *larger : {"KiB", "MiB", "GiB", "TiB"})
    if (static_cast<double>(highest) / unitBytes >= 4096) {
      unitBytes *= 1024;
      unit = larger;
    }
  y.high = std::max(1.0, 1.04 * static_cast<double>(highest) / unitBytes);
  double longest = std::max(planned.end, baseline.end) / 1e6;
  x.high = longest > 0 ? longest : 1;
}

void Picture::frame() {
  for (double tick = 0; tick <= y.high; tick += y.step()) {
    os << "<line class=\"grid\" x1=\"" << number(left) << "\" x2=\""
       << number(width - right) << "\" y1=\"" << number(y.at(tick))
       << "\" y2=\"" << number(y.at(tick)) << "\"/>\n";
    text(left - 8, y.at(tick) + 4, "end", number(tick, y.decimals()));
  }
  for (double tick = 0; tick <= x.high; tick += x.step())
    text(x.at(tick), bottom + 20, "middle", number(tick, x.decimals()));
  text(left, top - 10, "start", std::string("live bytes, ") + unit);
  text(width - right, bottom + 40, "end", "time by the cost model, ms");
}

/// Right to where each column begins, then up or down.
std::string Picture::stair(const Columns &columns,
                           const std::vector<int64_t> &bytes) {
  std::string path;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i > 0 && bytes[i] == bytes[i - 1])
      continue;
    path += (i ? "H" : "M") + number(atX(columns.begins[i])) + (i ? "V" : " ") +
            number(atY(bytes[i]));
  }
  return path.empty() ? path : path + "H" + number(atX(columns.end));
}

/// Up along \p tip, and back along \p base.
void Picture::band(const std::vector<int64_t> &base,
                   const std::vector<int64_t> &tip,
                   const std::string &attributes, const std::string &name) {
  std::string path = stair(planned, tip);
  for (size_t i = base.size(); i-- > 0;)
    if (i + 1 == base.size() || base[i] != base[i + 1])
      path += (i + 1 == base.size()
                   ? "L" + number(atX(planned.end)) + " "
                   : "H" + number(atX(planned.begins[i + 1])) + "V") +
              number(atY(base[i]));
  if (!base.empty())
    path += "H" + number(atX(planned.begins.front()));
  os << "<path class=\"band\" " << attributes << " d=\"" << path
     << "Z\"><title>" << plan::svg::escape(validUtf8(name))
     << "</title></path>\n";
}

void Picture::bands() {
  std::vector<std::vector<int64_t>> sums(
      report.bands.size(), std::vector<int64_t>(report.kernels.size() + 1, 0));
  for (const LiveRange &range : report.ranges) {
    int32_t row = report.layers[report.values[range.value].layer].band;
    sums[row][range.first] += range.bytes;
    sums[row][range.last + 1] -= range.bytes;
  }
  for (std::vector<int64_t> &sum : sums)
    for (size_t k = 1; k < sum.size(); ++k)
      sum[k] += sum[k - 1];
  std::vector<int64_t> base(planned.kernels.size(), 0), tip = base;
  for (size_t number = 0; number < sums.size(); ++number) {
    for (size_t i = 0; i < tip.size(); ++i)
      tip[i] += sums[number][planned.kernels[i]];
    band(base, tip, hue(number), report.bands[number]);
    base = tip;
  }
  for (size_t i = 0; i < tip.size(); ++i)
    tip[i] += report.kernels[planned.kernels[i]].workspaceBytes;
  if (tip != base)
    band(base, tip, "fill=\"#888\"", "workspace of kernels");
}

void Picture::lines() {
  auto line = [&](const char *kind, const std::string &path) {
    os << "<path class=\"line " << kind << "\" d=\"" << path << "\"/>\n";
  };
  std::vector<int64_t> bytes;
  for (int32_t kernel : baseline.kernels)
    bytes.push_back(report.baselineKernels[kernel].liveBytes);
  line("base", stair(baseline, bytes));
  int64_t budget = integerOf(report.figures, "budget_bytes").value_or(-1);
  if (budget >= 0)
    line("budget", "M" + number(left) + " " + number(atY(budget)) + "H" +
                       number(width - right));
  std::string marks;
  double now = 0;
  size_t next = 0;
  for (size_t k = 0; k < report.kernels.size(); ++k) {
    bool isAgain = false;
    for (; next < report.recomputations.size() &&
           report.recomputations[next].kernel == static_cast<int32_t>(k);
         ++next)
      isAgain = true;
    if (isAgain)
      marks += "M" + number(atX(now)) + " " + number(bottom + 1) + "v5";
    now += static_cast<double>(report.kernels[k].timeNs);
  }
  if (!marks.empty())
    line("again", marks);
}

/// Bands in the order of the stack, two columns, the topmost first.
void Picture::legend() {
  text(left, height + 6, "start",
       "dashes: without recomputation; orange: budget; marks below: kernels "
       "that recompute");
  size_t count = report.bands.size();
  for (size_t i = 0; i < count; ++i) {
    size_t number = count - 1 - i;
    double at = left + (i % 2 ? (width - left) / 2 : 0);
    double y = height + 28 + rowHeight * static_cast<double>(i / 2);
    os << "<rect class=\"band\" " << hue(number) << " x=\""
       << plan::svg::number(at) << "\" y=\"" << plan::svg::number(y - 10)
       << "\" width=\"11\" height=\"11\"/>\n";
    text(at + 18, y, "start", report.bands[number]);
  }
}

void Picture::print() {
  chooseAxes();
  double rows = static_cast<double>((report.bands.size() + 1) / 2);
  double full = height + 34 + rowHeight * rows;
  std::string title = report.text.title + ": memory over time";
  os << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 "
     << number(width, 0) << " " << number(full, 0) << "\" width=\""
     << number(width, 0) << "\" height=\"" << number(full, 0)
     << "\" role=\"img\">\n<title>" << plan::svg::escape(validUtf8(title))
     << "</title>\n<style>" << style << "</style>\n";
  text(left, 22, "start",
       title + ", arena " +
           plan::formatBytes(
               integerOf(report.figures, "peak_bytes").value_or(0)));
  frame();
  bands();
  lines();
  legend();
  os << "</svg>\n";
}

void ckpt::plan::report::writeSvg(const StepReport &report, std::ostream &os) {
  Picture(report, os).print();
}
