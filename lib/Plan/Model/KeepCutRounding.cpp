//===- KeepCutRounding.cpp - From two cuts to one that fits ---------------===//
//
// Prices give answers at their corners only: one takes too many bytes, and the
// next one leaves room. In models of equal blocks these are far apart. Their
// difference falls into connected parts of the network. Both answers obey all
// infinite arcs, and so does every mix of whole parts: a knapsack.
//
//===----------------------------------------------------------------------===//

#include "Plan/Model/KeepCut.h"

#include "ckpt/Plan/Problem.h"

#include <algorithm>
#include <numeric>

using namespace ckpt::plan;

namespace {

/// A connected part in which two answers differ.
struct Part {
  int32_t id = none;
  int64_t bytes = 0;
  double pricedBytes = 0, savedPs = 0;
};

} // namespace

/// The parts that save most per priced byte come first.
static bool savesMore(const Part &a, const Part &b) {
  double left = a.savedPs * std::max(b.pricedBytes, 1.0);
  double right = b.savedPs * std::max(a.pricedBytes, 1.0);
  return left != right ? left > right : a.id < b.id;
}

/// The best choice among \p parts, as flags, on a grid with sizes rounded up:
/// it fits \p room.
static std::vector<char> solveKnapsack(const std::vector<Part> &parts,
                                       int64_t room) {
  constexpr int64_t gridSteps = 1024;
  int64_t step = (room + gridSteps - 1) / gridSteps;
  auto sizeOf = [&](const Part &part) {
    return static_cast<size_t>((part.bytes + step - 1) / step);
  };
  size_t columns = static_cast<size_t>(room / step) + 1;
  std::vector<double> best(columns, 0);
  std::vector<char> taken(parts.size() * columns, 0);
  for (size_t i = 0; i < parts.size(); ++i) {
    size_t size = sizeOf(parts[i]);
    for (size_t column = columns; column-- > size;)
      if (best[column - size] + parts[i].savedPs > best[column]) {
        best[column] = best[column - size] + parts[i].savedPs;
        taken[i * columns + column] = 1;
      }
  }
  std::vector<char> chosen(parts.size(), 0);
  size_t column = columns - 1;
  for (size_t i = parts.size(); i-- > 0;)
    if (taken[i * columns + column]) {
      chosen[i] = 1;
      column -= sizeOf(parts[i]);
    }
  return chosen;
}

/// Chooses parts that fit \p room together: all that take no bytes, then those
/// of the knapsack, then the parts that still fit.
static std::vector<int32_t> chooseParts(std::vector<Part> parts, int64_t room,
                                        KeepCut::Filling filling) {
  std::sort(parts.begin(), parts.end(), savesMore);
  std::vector<int32_t> chosen;
  std::vector<Part> items;
  for (const Part &part : parts)
    if (part.bytes <= 0) {
      chosen.push_back(part.id);
      room -= part.bytes;
    }
  for (const Part &part : parts)
    if (part.bytes > 0 && part.bytes <= room)
      items.push_back(part);
  if (items.empty())
    return chosen;
  std::vector<char> inside(items.size(), 0);
  if (filling == KeepCut::Filling::Knapsack)
    inside = solveKnapsack(items, room);
  for (size_t i = 0; i < items.size(); ++i)
    room -= inside[i] ? items[i].bytes : 0;
  for (size_t i = 0; i < items.size(); ++i) {
    if (!inside[i] && items[i].bytes <= room) {
      inside[i] = 1;
      room -= items[i].bytes;
    }
    if (inside[i])
      chosen.push_back(items[i].id);
  }
  return chosen;
}

/// Per node, values before makers: the part to which it belongs, or `none` if
/// both answers agree on it.
std::vector<int32_t> KeepCut::findComponents(const Answer &answer,
                                             const Answer &cheaper) const {
  std::vector<int32_t> parent(numValues + makers.size());
  std::iota(parent.begin(), parent.end(), 0);
  auto differs = [&](size_t node) {
    return node < numValues ? answer.available[node] != cheaper.available[node]
                            : answer.computed[node - numValues] !=
                                  cheaper.computed[node - numValues];
  };
  auto find = [&](int32_t node) {
    while (parent[node] != node)
      node = parent[node] = parent[parent[node]];
    return node;
  };
  auto join = [&](size_t a, size_t b) {
    if (differs(a) && differs(b))
      parent[find(static_cast<int32_t>(a))] = find(static_cast<int32_t>(b));
  };
  for (size_t i = 0; i < numValues; ++i)
    join(i, numValues + values[i].maker);
  for (size_t i = 0; i < makers.size(); ++i)
    for (size_t at = makers[i].firstOperand; at < endOfOperands(i); ++at)
      join(numValues + i, operands[at]);
  std::vector<int32_t> part(parent.size(), none);
  for (size_t node = 0; node < part.size(); ++node)
    if (differs(node))
      part[node] = find(static_cast<int32_t>(node));
  return part;
}

void KeepCut::moveTowards(Answer &answer, const Answer &cheaper, int64_t room,
                          Filling filling) const {
  std::vector<int32_t> partOf = findComponents(answer, cheaper);
  std::vector<Part> parts(partOf.size());
  for (size_t i = 0; i < numValues; ++i) {
    int32_t id =
        partOf[i] != none ? partOf[i] : partOf[numValues + values[i].maker];
    if (id == none)
      continue;
    int change = isKept(cheaper, i) - isKept(answer, i);
    parts[id].bytes += change * values[i].bytes;
    parts[id].pricedBytes += change * values[i].pricedBytes;
    parts[id].savedPs -= change * values[i].keepPs;
  }
  for (size_t i = 0; i < makers.size(); ++i)
    if (int32_t id = partOf[numValues + i]; id != none)
      parts[id].savedPs += (answer.computed[i] ? 1.0 : -1.0) *
                           static_cast<double>(makers[i].againPs);
  std::vector<Part> saving;
  for (size_t node = 0; node < parts.size(); ++node)
    if (partOf[node] == static_cast<int32_t>(node) && parts[node].savedPs > 0) {
      parts[node].id = partOf[node];
      saving.push_back(parts[node]);
    }
  std::vector<char> isChosen(partOf.size(), 0);
  for (int32_t id :
       chooseParts(std::move(saving), room - answer.bytes, filling))
    isChosen[id] = 1;
  for (size_t node = 0; node < partOf.size(); ++node) {
    if (partOf[node] == none || !isChosen[partOf[node]])
      continue;
    if (node < numValues)
      answer.available[node] = cheaper.available[node];
    else
      answer.computed[node - numValues] = cheaper.computed[node - numValues];
  }
  evaluate(answer);
}
