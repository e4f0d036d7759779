//===- KeepCut.cpp - The network and its price ----------------------------===//
//
// KeepCut.h draws the network. Prices only rise between two calls of
// `forgetFlow`, and each cut continues from the flow of the one before.
//
//===----------------------------------------------------------------------===//

#include "Plan/Model/KeepCut.h"

#include <cmath>
#include <utility>

using namespace ckpt::plan;

static constexpr int32_t sourceNode = 0, sinkNode = 1;

int64_t KeepCut::toCapacity(double ps) const {
  return std::llround(ps / unitPs);
}

void KeepCut::reset(size_t newNumValues, size_t numMakers, double newUnitPs) {
  numValues = newNumValues;
  unitPs = newUnitPs;
  values.clear();
  makers.clear();
  operands.clear();
  keepArc.clear();
  keepCapacity.clear();
  values.reserve(numValues);
  makers.reserve(numMakers);
  cut.reset(nodeOfMaker(numMakers));
}

void KeepCut::addValue(const Value &value) {
  int32_t node = nodeOf(values.size());
  int32_t maker = nodeOfMaker(value.maker);
  if (value.isDemanded)
    cut.addArc(sourceNode, node, MinCut::infinite);
  int64_t capacity =
      value.mayKeep ? toCapacity(value.keepPs) : MinCut::infinite;
  int32_t arc = cut.addArc(node, maker, capacity);
  keepArc.push_back(value.mayKeep ? arc : -1);
  keepCapacity.push_back(capacity);
  values.push_back(value);
}

void KeepCut::addMaker(int64_t againPs, bool mayRepeat) {
  cut.addArc(nodeOfMaker(makers.size()), sinkNode,
             mayRepeat ? toCapacity(static_cast<double>(againPs))
                       : MinCut::infinite);
  makers.push_back({againPs, operands.size()});
}

void KeepCut::addOperand(int32_t value) {
  cut.addArc(nodeOfMaker(makers.size() - 1), nodeOf(value), MinCut::infinite);
  operands.push_back(value);
}

KeepCut::Answer KeepCut::solveAt(double price) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (keepArc[i] < 0)
      continue;
    int64_t capacity =
        toCapacity(values[i].keepPs + price * values[i].pricedBytes);
    cut.raise(keepArc[i], capacity - keepCapacity[i]);
    keepCapacity[i] = capacity;
  }
  return read(price);
}

/// The answer of the network as it is.
KeepCut::Answer KeepCut::read(double price) {
  Answer answer;
  answer.price = price;
  answer.isFeasible = cut.run(sourceNode, sinkNode) < MinCut::infinite;
  answer.available.resize(values.size());
  answer.computed.resize(makers.size());
  for (size_t i = 0; i < values.size(); ++i)
    answer.available[i] = cut.onSourceSide(nodeOf(i));
  for (size_t i = 0; i < makers.size(); ++i)
    answer.computed[i] = cut.onSourceSide(nodeOfMaker(i));
  evaluate(answer);
  return answer;
}

void KeepCut::evaluate(Answer &answer) const {
  answer.bytes = 0;
  answer.pricedBytes = 0;
  answer.costPs = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!isKept(answer, i))
      continue;
    answer.bytes += values[i].bytes;
    answer.pricedBytes += values[i].pricedBytes;
    answer.costPs += values[i].keepPs;
  }
  for (size_t i = 0; i < makers.size(); ++i)
    if (answer.computed[i])
      answer.costPs += static_cast<double>(makers[i].againPs);
}

void KeepCut::forgetFlow() {
  cut.forgetFlow();
  for (size_t i = 0; i < values.size(); ++i)
    if (keepArc[i] >= 0) {
      keepCapacity[i] = toCapacity(values[i].keepPs);
      cut.setCapacity(keepArc[i], keepCapacity[i]);
    }
}

void KeepCut::saveFlow() {
  cut.save(savedCut);
  savedCapacity = keepCapacity;
}

void KeepCut::restoreFlow() {
  cut.restore(savedCut);
  keepCapacity = savedCapacity;
}

KeepCut::Corner KeepCut::climb(const Answer &first, int64_t room, double price,
                               double highestPrice, double exploredUpTo) {
  Corner corner = {first, first};
  saveFlow();
  for (; price * priceStep <= exploredUpTo; price *= priceStep) {
    corner.fitting = solveAt(price);
    if (corner.fitting.bytes <= room || price >= highestPrice)
      break;
    corner.cheaper = corner.fitting;
    saveFlow();
  }
  return corner;
}

void KeepCut::narrow(Corner &corner, int64_t room, int mostSteps) {
  // Prices that differ by less are one price.
  constexpr double same = 1.0001;
  auto &[cheaper, fitting] = corner;
  for (int step = 0; step < mostSteps; ++step) {
    double middle = (fitting.costPs - cheaper.costPs) /
                    (cheaper.pricedBytes - fitting.pricedBytes);
    if (!(middle > cheaper.price * same) || middle * same >= fitting.price)
      return;
    restoreFlow();
    Answer next = solveAt(middle);
    if (next.bytes == fitting.bytes || next.bytes == cheaper.bytes)
      return;
    if (next.bytes <= room) {
      fitting = std::move(next);
      continue;
    }
    cheaper = std::move(next);
    saveFlow();
  }
}

KeepCut::Answer KeepCut::round(const Corner &corner, int64_t room,
                               double lowest, double highest) {
  Answer best = corner.fitting;
  moveTowards(best, corner.cheaper, room, Filling::Knapsack);
  // Farther corners differ in more values: they cost more as a whole, but
  // their small values may fill the last gap.
  forgetFlow();
  Answer below = solveAt(corner.fitting.price / priceStep);
  Answer above = solveAt(corner.fitting.price * priceStep);
  moveTowards(above, below, room, Filling::Knapsack);
  if (above.bytes <= room && above.costPs < best.costPs)
    best = std::move(above);
  fill(best, room, lowest, highest);
  return best;
}

/// Solves the cut once more for the remaining room: kept values cost nothing,
/// and values larger than the remaining room cannot be kept.
void KeepCut::fill(Answer &answer, int64_t room, double lowest,
                   double highest) {
  int64_t rest = room - answer.bytes;
  if (rest <= 0 || !answer.isFeasible)
    return;
  forgetFlow();
  /// Per value: the bytes that it pays for.
  std::vector<int64_t> charged(values.size(), 0);
  bool any = false;
  for (size_t i = 0; i < values.size(); ++i) {
    if (keepArc[i] < 0 || isKept(answer, i))
      continue;
    if (values[i].bytes > rest)
      cut.raise(keepArc[i], MinCut::infinite);
    else
      charged[i] = values[i].bytes;
    any |= charged[i] > 0;
  }
  if (!any)
    return;
  double last = 0;
  for (double price = lowest; price < highest; price *= priceStep) {
    for (size_t i = 0; i < values.size(); ++i)
      if (charged[i] > 0)
        cut.raise(keepArc[i],
                  toCapacity((price - last) * static_cast<double>(charged[i])));
    last = price;
    Answer next = read(price);
    if (!next.isFeasible)
      return;
    if (next.bytes <= room) {
      if (next.costPs < answer.costPs)
        answer = std::move(next);
      return;
    }
  }
}
