//===- Bands.cpp - Layers in groups that a picture can show ---------------===//
//
// Cuts a path such as "transformer/h/3/attn" after so many components that at
// most `mostBands` groups are left. If even the first components differ too
// much, the largest groups have bands and the others share one.
//
//===----------------------------------------------------------------------===//

#include "Schedule.h"

#include <algorithm>

using namespace ckpt::plan::report;

namespace {
constexpr size_t mostBands = 18;

/// The first \p depth components of \p path.
std::string cut(const std::string &path, size_t depth) {
  size_t at = 0;
  for (size_t i = 0; i < depth; ++i) {
    at = path.find('/', at + (i > 0 ? 1 : 0));
    if (at == std::string::npos)
      return path;
  }
  return path.substr(0, at);
}

struct Group {
  int64_t weight = 0;
  int32_t first = INT32_MAX;
};
using Groups = std::map<std::string, Group>;

/// Groups of layers that own live ranges, with their areas in the picture.
Groups groupsAt(const StepReport &report, size_t depth) {
  Groups groups;
  for (const LiveRange &range : report.ranges) {
    const ReportLayer &layer = report.layers[report.values[range.value].layer];
    Group &group = groups[cut(layer.name, depth)];
    group.weight += range.bytes / 256 * (range.last - range.first + 1);
    group.first = std::min(group.first, range.first);
  }
  return groups;
}
} // namespace

void ckpt::plan::report::chooseBands(StepReport &report) {
  size_t deepest = 1;
  for (const ReportLayer &layer : report.layers)
    deepest = std::max<size_t>(
        deepest, 1 + std::count(layer.name.begin(), layer.name.end(), '/'));
  size_t depth = 1;
  Groups groups = groupsAt(report, depth);
  for (size_t deeper = 2; deeper <= deepest; ++deeper) {
    Groups next = groupsAt(report, deeper);
    if (next.size() > mostBands)
      break;
    depth = deeper;
    groups = std::move(next);
  }

  std::vector<std::pair<std::string, Group>> sorted(groups.begin(),
                                                    groups.end());
  bool isShared = sorted.size() > mostBands;
  if (isShared) {
    std::stable_sort(sorted.begin(), sorted.end(), [](auto &a, auto &b) {
      return a.second.weight > b.second.weight;
    });
    sorted.resize(mostBands - 1);
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](auto &a, auto &b) {
    return a.second.first < b.second.first;
  });
  std::map<std::string, int32_t> numbers;
  for (auto &[name, group] : sorted) {
    numbers[name] = static_cast<int32_t>(report.bands.size());
    report.bands.push_back(name);
  }
  for (ReportLayer &layer : report.layers) {
    std::string name = cut(layer.name, depth);
    auto found = numbers.find(name);
    if (found != numbers.end())
      layer.band = found->second;
    else if (isShared && groups.count(name))
      layer.band = static_cast<int32_t>(report.bands.size());
  }
  if (isShared)
    report.bands.push_back("other layers");
}
