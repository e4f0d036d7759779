//===- LiveProfile.cpp - Live bytes of each kernel of a list --------------===//
//
// `Node::most` counts the bytes that were added to the node itself, but not to
// the nodes above it. Places behind the last kernel have 0 bytes.
//
//===----------------------------------------------------------------------===//

#include "Plan/Improve/LiveProfile.h"

#include <algorithm>

using namespace ckpt::plan;

LiveProfile::LiveProfile(const std::vector<int64_t> &bytes) {
  while (leaves < bytes.size())
    leaves *= 2;
  nodes.resize(2 * leaves);
  for (size_t i = 0; i < bytes.size(); ++i)
    nodes[leaves + i].most = bytes[i];
  for (size_t node = leaves; node-- > 1;)
    nodes[node].most = std::max(nodes[2 * node].most, nodes[2 * node + 1].most);
}

void LiveProfile::add(size_t first, size_t end, int64_t bytes) {
  if (first < end && bytes != 0)
    add(all(), first, end, bytes);
}

void LiveProfile::add(const Span &span, size_t first, size_t end,
                      int64_t bytes) {
  if (end <= span.begin || span.end <= first)
    return;
  Node &node = nodes[span.node];
  if (first <= span.begin && span.end <= end) {
    node.most += bytes;
    node.added += bytes;
    return;
  }
  add(span.left(), first, end, bytes);
  add(span.right(), first, end, bytes);
  node.most = node.added + std::max(nodes[span.left().node].most,
                                    nodes[span.right().node].most);
}

int64_t LiveProfile::most(size_t first, size_t end) const {
  return first < end ? most(all(), first, end) : 0;
}

int64_t LiveProfile::most(const Span &span, size_t first, size_t end) const {
  const Node &node = nodes[span.node];
  if (first <= span.begin && span.end <= end)
    return node.most;
  if (end <= span.middle())
    return node.added + most(span.left(), first, end);
  if (first >= span.middle())
    return node.added + most(span.right(), first, end);
  return node.added + std::max(most(span.left(), first, end),
                               most(span.right(), first, end));
}

int64_t LiveProfile::excess(int64_t limit) const {
  return nodes.empty() ? 0 : excess(all(), limit);
}

int64_t LiveProfile::excess(const Span &span, int64_t limit) const {
  const Node &node = nodes[span.node];
  if (node.most <= limit)
    return 0;
  if (span.begin + 1 == span.end)
    return node.most - limit;
  return excess(span.left(), limit - node.added) +
         excess(span.right(), limit - node.added);
}

std::vector<int64_t> LiveProfile::values(size_t count) const {
  std::vector<int64_t> bytes(count);
  if (count > 0)
    list(all(), 0, bytes);
  return bytes;
}

/// Lists the bytes of \p span, above which nodes have added \p added.
void LiveProfile::list(const Span &span, int64_t added,
                       std::vector<int64_t> &bytes) const {
  const Node &node = nodes[span.node];
  if (span.begin >= bytes.size())
    return;
  if (span.begin + 1 == span.end) {
    bytes[span.begin] = node.most + added;
    return;
  }
  list(span.left(), added + node.added, bytes);
  list(span.right(), added + node.added, bytes);
}
