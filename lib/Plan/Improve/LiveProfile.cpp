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
  if (first >= end || bytes == 0)
    return;
  auto addTo = [&](size_t node) {
    nodes[node].most += bytes;
    nodes[node].added += bytes;
  };
  // The largest nodes that together cover the range.
  for (size_t left = leaves + first, right = leaves + end; left < right;
       left /= 2, right /= 2) {
    if (left % 2 == 1)
      addTo(left++);
    if (right % 2 == 1)
      addTo(--right);
  }
  updateAbove(leaves + first, leaves + end - 1);
}

/// Updates the most bytes of all nodes above \p first and \p last, which are
/// on one level.
void LiveProfile::updateAbove(size_t first, size_t last) {
  auto update = [&](size_t node) {
    nodes[node].most = nodes[node].added +
                       std::max(nodes[2 * node].most, nodes[2 * node + 1].most);
  };
  while (first /= 2) {
    last /= 2;
    update(first);
    if (last != first)
      update(last);
  }
}

int64_t LiveProfile::at(size_t place) const {
  size_t node = leaves + place;
  int64_t bytes = nodes[node].most;
  while (node /= 2)
    bytes += nodes[node].added;
  return bytes;
}

int64_t LiveProfile::most(size_t first, size_t end) const {
  if (first >= end)
    return 0;
  // The most bytes from the first place on and up to the last one, as far as
  // both nodes are up.
  size_t left = leaves + first, right = leaves + end - 1;
  int64_t fromLeft = nodes[left].most, fromRight = nodes[right].most;
  while (left / 2 != right / 2) {
    if (left % 2 == 0)
      fromLeft = std::max(fromLeft, nodes[left + 1].most);
    if (right % 2 == 1)
      fromRight = std::max(fromRight, nodes[right - 1].most);
    fromLeft += nodes[left /= 2].added;
    fromRight += nodes[right /= 2].added;
  }
  int64_t bytes = std::max(fromLeft, fromRight);
  while (left /= 2)
    bytes += nodes[left].added;
  return bytes;
}

size_t LiveProfile::worst() const {
  size_t node = 1;
  while (node < leaves)
    node = 2 * node + (nodes[2 * node].most < nodes[2 * node + 1].most);
  return node - leaves;
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
