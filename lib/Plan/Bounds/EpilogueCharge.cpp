//===- EpilogueCharge.cpp - Arithmetic of values that no plan kept --------===//
//
// A product whose epilogue multiplies by the derivative of an activation
// computes that derivative inside, unless it stands in memory by then. In a
// kernel with no time to spare, that takes time. At some moment before, the
// value to be read instead lies in the arena, or a kernel writes it later.
// TimeBound calls this part of the bound once per step and moment.
//
//===----------------------------------------------------------------------===//

#include "Plan/Bounds/TimeBound.h"

#include <algorithm>
#include <map>

using namespace ckpt::plan;

/// Whether \p op alone reads the values that \p read shows, element by element:
/// a plan with these in memory may as well have the result of \p op, which is
/// not larger.
bool TimeBound::isMadeOnlyFor(OpId id, const Read &read) const {
  const Value &v = problem.values[read.value];
  int32_t index = writtenIndex[read.value];
  if (v.op == none || v.home != Home::Arena || v.keep != Keep::Free ||
      (index != none && !written[index].isSuperfluous()))
    return false;
  const Op &op = problem.ops[id], &maker = problem.ops[v.op];
  const Value &made = problem.values[op.results.front()];
  return maker.kind == OpKind::Fusible && maker.mayRepeat &&
         maker.results.size() == 1 && graph.users[read.value].size() == 1 &&
         read.need == Need::Inline && read.access == Access::Pointwise &&
         v.elements == made.elements && v.bytes >= made.bytes;
}

/// Arithmetic of \p value and of its sources made for it alone; \p item is
/// computed from it one to one.
int64_t TimeBound::chainPs(ValueId value, const Written &item) const {
  constexpr size_t most = 64;
  std::vector<OpId> chain = {problem.values[value].op};
  int64_t ps = 0;
  for (size_t i = 0; i < chain.size(); ++i) {
    ps += std::min(epiloguePs(chain[i], item), INT64_MAX / 64 - ps);
    for (const Read &read : problem.ops[chain[i]].reads)
      if (chain.size() < most && isMadeOnlyFor(chain[i], read))
        chain.push_back(problem.values[read.value].op);
  }
  return ps;
}

/// The values that the first kernel of \p anchor reads or computes inside,
/// beside descendants of the anchor, if it writes \p item.
std::vector<InsideValue> TimeBound::findInside(OpId anchor,
                                               const Written &item) const {
  std::map<ValueId, InsideValue> found;
  for (OpId op : item.epilogue)
    for (const Read &read : problem.ops[op].reads) {
      ValueId value = graph.wholeOf(read.value);
      const Value &v = problem.values[value];
      bool isOwn = v.op == anchor ||
                   std::find(item.epilogue.begin(), item.epilogue.end(),
                             v.op) != item.epilogue.end();
      if (v.op == none || isOwn || !isOneToOne(op, read.value) ||
          problem.ops[v.op].kind != OpKind::Fusible ||
          problem.ops[v.op].results.size() != 1 ||
          !problem.ops[v.op].mayRepeat || v.home != Home::Arena ||
          v.keep != Keep::Free ||
          v.elements != problem.values[item.value].elements)
        continue;
      InsideValue inside;
      inside.value = value;
      inside.anchor = anchor;
      inside.ns = chainPs(value, item) / 1000;
      found.emplace(value, inside);
    }
  std::vector<InsideValue> insides;
  for (auto &[value, inside] : found) {
    Written made;
    made.value = value;
    made.epilogueElements = problem.values[value].elements;
    findRepeaters(made);
    if (!made.knowsRepeaters || made.repeaters.size() > 1 || inside.ns == 0)
      continue;
    if (!made.repeaters.empty())
      inside.writer = made.repeaters.front();
    insides.push_back(inside);
  }
  return insides;
}

/// Enters the values that the first kernel of \p anchor may have to compute
/// inside, for the item of \p mine that takes most. Returns their time: no more
/// than the next best way to write the item takes beyond \p least.
int64_t TimeBound::enterInside(OpId anchor,
                               const std::vector<const Written *> &mine,
                               int64_t least) {
  std::vector<InsideValue> best;
  int64_t most = 0;
  for (const Written *item : mine) {
    std::vector<InsideValue> found = findInside(anchor, *item);
    if (found.empty())
      continue;
    int64_t left = cheapest(anchor, mine, item) - least, sum = 0;
    for (InsideValue &inside : found) {
      inside.ns = std::min(inside.ns, left - sum);
      sum += inside.ns;
    }
    if (sum > most) {
      most = sum;
      best = std::move(found);
    }
  }
  insides.insert(insides.end(), best.begin(), best.end());
  return most;
}

std::vector<ValueId> TimeBound::insideValues() const {
  std::vector<ValueId> values;
  for (const InsideValue &inside : insides)
    values.push_back(inside.value);
  return values;
}

/// Whether every kernel that first writes the value, or is charged for it, ran
/// before the moment: an anchor that has run can only write it if it runs
/// again.
bool TimeBound::isMadeBefore(const InsideValue &inside,
                             const AnchorRelaxation &moment) const {
  OpId op = problem.values[inside.value].op;
  auto hasRun = [&](OpId other) { return moment.hasRun(other); };
  int32_t index = writtenIndex[inside.value];
  const std::vector<ValueId> &leaves = moment.leavesOf(op);
  return !moment.isFuture(op) &&
         (index == none || isPast(written[index], hasRun)) &&
         std::all_of(leaves.begin(), leaves.end(), [&](ValueId leaf) {
           return hasRun(problem.values[leaf].op);
         });
}

/// The values that first kernels to come need are kept, or computed inside, or
/// written again, by a kernel without an anchor or behind one that runs again.
void TimeBound::addInside(const AnchorRelaxation &moment,
                          RematCosts &costs) const {
  std::map<ValueId, Rewrite> perValue;
  for (const InsideValue &inside : insides) {
    if (!moment.isToCome(inside.anchor) || !moment.isNeeded(inside.value) ||
        !isMadeBefore(inside, moment))
      continue;
    Rewrite &rewrite =
        perValue.try_emplace(inside.value, Rewrite{inside.value, 0, none})
            .first->second;
    rewrite.behind = inside.writer;
    rewrite.cost = std::min(rewrite.cost + inside.ns,
                            floor.moveNs(problem.values[inside.value].bytes));
  }
  for (const Rewrite &known : costs.values)
    perValue.erase(known.value);
  for (const auto &[value, rewrite] : perValue)
    if (rewrite.cost > 0)
      costs.values.push_back(rewrite);
}
