//===- FrontierSvg.cpp - The curve as a picture ---------------------------===//
//
// Two panels over one axis of memory: time, and extra FLOPs with their bound.
// Shades the budgets that are proven infeasible, and in another shade the
// budgets up to the smallest plan, for which nothing is proven. Colours follow
// the viewer's light or dark scheme.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Plan/Budget.h"
#include "ckpt/Plan/Frontier.h"
#include "ckpt/Plan/Svg.h"

#include <algorithm>
#include <cmath>
#include <ostream>

using namespace ckpt::plan;
using ckpt::plan::svg::Axis;
using ckpt::plan::svg::escape;
using ckpt::plan::svg::number;

namespace {

/// Text and axes, the plans, the bound.
constexpr const char *style =
    R"(svg{font:13px sans-serif;background:#fff}
text{fill:#222}.axis{stroke:#777;fill:none}.grid{stroke:#ddd}
.plan{stroke:#0b62b8;fill:none;stroke-width:2}.dot{fill:#0b62b8}
.bound{stroke:#b3400a;fill:none;stroke-width:2;stroke-dasharray:6 3}
.mark{stroke:#555;stroke-dasharray:2 3}
.proven{fill:#b3400a;opacity:.25}.unknown{fill:#888;opacity:.2}
@media (prefers-color-scheme:dark){svg{background:#16181c}text{fill:#ddd}
.grid{stroke:#333}.plan{stroke:#63b0ff}.dot{fill:#63b0ff}
.bound{stroke:#ff9a5c}.proven{fill:#ff9a5c}.mark{stroke:#aaa}})";

constexpr double width = 820, left = 90, right = 24, panelHeight = 210;
constexpr double top = 70, panelGap = 60;

class Picture {
public:
  Picture(const Frontier &frontier, std::ostream &os)
      : frontier(frontier), os(os) {}
  void print(const std::string &title);

private:
  struct Panel {
    const char *title;
    std::vector<double> plans;
    std::vector<double> bounds;
  };

  void chooseUnit();
  void text(double x, double y, const char *anchor, const std::string &what) {
    os << "<text x=\"" << number(x) << "\" y=\"" << number(y)
       << "\" text-anchor=\"" << anchor << "\">" << escape(what) << "</text>\n";
  }
  void line(const char *kind, double x1, double y1, double x2, double y2) {
    os << "<line class=\"" << kind << "\" x1=\"" << number(x1) << "\" y1=\""
       << number(y1) << "\" x2=\"" << number(x2) << "\" y2=\"" << number(y2)
       << "\"/>\n";
  }
  void shade(const char *kind, double from, double to, double topAt,
             const std::string &hint);
  void marks(double topAt);
  void grid(const Axis &y, double topAt);
  void curves(const Panel &panel, const Axis &y);
  void panel(const Panel &panel, double topAt);
  double memory(int64_t bytes) const {
    return static_cast<double>(bytes) / unitBytes;
  }

  const Frontier &frontier;
  std::ostream &os;
  double unitBytes = 1;
  const char *unit = "B";
  Axis x = {0, 1, left, width - right};
};

} // namespace

void Picture::chooseUnit() {
  int64_t largest =
      std::max(frontier.baseline.plan.arenaBytes, frontier.minimumBoundBytes);
  for (const char *larger : {"KiB", "MiB", "GiB"})
    if (memory(largest) >= 4096) {
      unitBytes *= 1024;
      unit = larger;
    }
  // The program as written gets on the picture unless it takes far more.
  double shown = memory(std::max<int64_t>(largest, 1));
  if (memory(frontier.written.peakBytes) < 2 * shown)
    shown = std::max(shown, memory(frontier.written.peakBytes));
  x.high = 1.05 * shown;
}

void Picture::shade(const char *kind, double from, double to, double topAt,
                    const std::string &hint) {
  os << "<rect class=\"" << kind << "\" x=\"" << number(x.at(from)) << "\" y=\""
     << number(topAt) << "\" width=\""
     << number(std::max(0.0, x.at(to) - x.at(from))) << "\" height=\""
     << number(panelHeight) << "\"><title>" << escape(hint)
     << "</title></rect>\n";
}

/// One label above the other, since they may be close.
void Picture::marks(double topAt) {
  auto mark = [&](int64_t bytes, const std::string &name, double labelAt) {
    bool isShown = memory(bytes) <= x.high;
    double at = isShown ? x.at(memory(bytes)) : width - right;
    if (isShown)
      line("mark", at, labelAt, at, topAt + panelHeight);
    text(at - 4, labelAt, "end",
         isShown ? name : name + ": " + formatBytes(bytes));
  };
  mark(frontier.baseline.plan.arenaBytes, "baseline", topAt - 6);
  mark(frontier.written.peakBytes, "as written", topAt - 20);
}

void Picture::grid(const Axis &y, double topAt) {
  double bottom = topAt + panelHeight;
  for (double tick = std::ceil(y.low / y.step()) * y.step(); tick <= y.high;
       tick += y.step()) {
    line("grid", left, y.at(tick), width - right, y.at(tick));
    text(left - 8, y.at(tick) + 4, "end", number(tick, y.decimals()));
  }
  for (double tick = 0; tick <= x.high; tick += x.step()) {
    line("axis", x.at(tick), bottom, x.at(tick), bottom + 4);
    text(x.at(tick), bottom + 18, "middle", number(tick, x.decimals()));
  }
  line("axis", left, topAt, left, bottom);
  line("axis", left, bottom, width - right, bottom);
}

/// A plan serves every budget from its arena on: its curve is a stair. A bound
/// between two budgets is at least that of the larger one.
void Picture::curves(const Panel &panel, const Axis &y) {
  auto path = [&](const char *kind, const std::vector<double> &values,
                  bool isBound) {
    os << "<path class=\"" << kind << "\" d=\"";
    for (size_t i = 0; i < values.size(); ++i) {
      const FrontierPoint &point = frontier.points[i];
      double at = x.at(
          memory(isBound ? point.budgetBytes : point.solution.plan.arenaBytes));
      if (i > 0 && isBound)
        os << "V" << number(y.at(values[i]));
      os << (i == 0 ? "M" : "H") << number(at);
      if (i == 0)
        os << " " << number(y.at(values[i]));
      else if (!isBound)
        os << "V" << number(y.at(values[i]));
    }
    if (!isBound)
      os << "H" << number(x.at(x.high));
    os << "\"/>\n";
  };
  if (!panel.bounds.empty())
    path("bound", panel.bounds, true);
  path("plan", panel.plans, false);
  for (size_t i = 0; i < panel.plans.size(); ++i) {
    const FrontierPoint &point = frontier.points[i];
    os << "<circle class=\"dot\" r=\"3\" cx=\""
       << number(x.at(memory(point.solution.plan.arenaBytes))) << "\" cy=\""
       << number(y.at(panel.plans[i])) << "\"><title>"
       << formatBytes(point.solution.plan.arenaBytes) << ", "
       << number(panel.plans[i], 3) << "</title></circle>\n";
  }
}

void Picture::panel(const Panel &panel, double topAt) {
  double bottom = topAt + panelHeight;
  double high = *std::max_element(panel.plans.begin(), panel.plans.end());
  double low = *std::min_element(panel.plans.begin(), panel.plans.end());
  if (!panel.bounds.empty())
    low = std::min(low,
                   *std::min_element(panel.bounds.begin(), panel.bounds.end()));
  double margin = high > low ? 0.06 * (high - low) : std::max(high, 1.0);
  Axis y = {std::max(0.0, low - margin), high + margin, bottom, topAt};
  double smallest = memory(frontier.points.front().solution.plan.arenaBytes);
  double proven = memory(frontier.minimumBoundBytes);
  shade("proven", 0, proven, topAt, "proven infeasible");
  shade("unknown", proven, smallest, topAt, "no plan found, and no proof");
  grid(y, topAt);
  marks(topAt);
  curves(panel, y);
  text(left, topAt - 6, "start", panel.title);
}

void Picture::print(const std::string &title) {
  chooseUnit();
  Panel time = {"time, ms", {}, {}}, work = {"extra work, % of FLOPs", {}, {}};
  double flops =
      static_cast<double>(std::max<int64_t>(1, frontier.written.flops));
  for (const FrontierPoint &point : frontier.points) {
    const Verdict &verdict = point.solution.verdict;
    time.plans.push_back(static_cast<double>(verdict.timeNs) / 1e6);
    time.bounds.push_back(static_cast<double>(point.timeBoundNs) / 1e6);
    work.plans.push_back(100 * static_cast<double>(verdict.extraFlops) / flops);
    work.bounds.push_back(100 * static_cast<double>(point.extraFlopsBound) /
                          flops);
  }
  double height = top + 2 * panelHeight + panelGap + 80;
  os << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 "
     << number(width, 0) << " " << number(height, 0) << "\" width=\""
     << number(width, 0) << "\" height=\"" << number(height, 0)
     << "\" role=\"img\">\n<title>" << escape(title) << "</title>\n<style>"
     << style << "</style>\n";
  text(left, 22, "start", title + ": memory against time");
  if (!frontier.points.empty()) {
    panel(time, top);
    panel(work, top + panelHeight + panelGap);
  }
  text((left + width - right) / 2, height - 40, "middle",
       std::string("arena, ") + unit);
  text(left, height - 16, "start",
       "line: plans found; dashes: proven bound; orange: proven infeasible; "
       "grey: no plan found, no proof");
  os << "</svg>\n";
}

void ckpt::plan::printFrontierSvg(const Frontier &frontier,
                                  const std::string &title, std::ostream &os) {
  Picture(frontier, os).print(title);
}
