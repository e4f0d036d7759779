//===- LivePeaks.h - Bytes per moment, changed by ranges --------*- C++ -*-===//
//
// Whether a value can stay in memory between two moments is asked for every
// repeat of a plan, and long plans have long ranges: both the answer and the
// change take logarithmic time.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_IMPROVE_LIVEPEAKS_H
#define CKPT_LIB_PLAN_IMPROVE_LIVEPEAKS_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ckpt::plan {

class LivePeaks {
public:
  explicit LivePeaks(const std::vector<int64_t> &bytes) {
    while (leaves < bytes.size())
      leaves *= 2;
    nodes.resize(2 * leaves);
    for (size_t i = 0; i < bytes.size(); ++i)
      nodes[leaves + i].most = bytes[i];
    for (size_t node = leaves; node-- > 1;)
      nodes[node].most =
          std::max(nodes[2 * node].most, nodes[2 * node + 1].most);
  }

  /// Adds \p bytes to the moments from \p first to before \p end.
  void add(size_t first, size_t end, int64_t bytes) {
    if (first < end)
      add(1, 0, leaves, first, end, bytes);
  }
  /// The most bytes of a moment from \p first to before \p end; 0 if there is
  /// none.
  int64_t most(size_t first, size_t end) const {
    return first < end ? most(1, 0, leaves, first, end) : 0;
  }

private:
  /// What was added to all moments of a node is not in its children.
  struct Node {
    int64_t most = 0, added = 0;
  };

  void add(size_t node, size_t begin, size_t end, size_t first, size_t last,
           int64_t bytes) {
    if (last <= begin || end <= first)
      return;
    Node &here = nodes[node];
    if (first <= begin && end <= last) {
      here.most += bytes;
      here.added += bytes;
      return;
    }
    size_t middle = (begin + end) / 2;
    add(2 * node, begin, middle, first, last, bytes);
    add(2 * node + 1, middle, end, first, last, bytes);
    here.most =
        std::max(nodes[2 * node].most, nodes[2 * node + 1].most) + here.added;
  }
  int64_t most(size_t node, size_t begin, size_t end, size_t first,
               size_t last) const {
    if (last <= begin || end <= first)
      return 0;
    const Node &here = nodes[node];
    if (first <= begin && end <= last)
      return here.most;
    size_t middle = (begin + end) / 2;
    return here.added + std::max(most(2 * node, begin, middle, first, last),
                                 most(2 * node + 1, middle, end, first, last));
  }

  size_t leaves = 1;
  std::vector<Node> nodes;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_IMPROVE_LIVEPEAKS_H
