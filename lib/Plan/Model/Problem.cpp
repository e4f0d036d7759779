//===- Problem.cpp - The conditions of a legal planning problem -----------===//
//
// The library trusts a problem that passed `check`: other code uses indices
// without a second look and sums in 64 bits. Each reader and builder of
// problems calls `check` once.
//
//===----------------------------------------------------------------------===//

#include "Plan/Model/ProblemFault.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <utility>

using namespace ckpt::plan;

namespace {

/// Room for the sum over a program of any one figure. A quarter of the range
/// leaves solvers space to add a few such sums.
constexpr int64_t sumLimit = INT64_MAX / 4;

std::string opText(OpId op) { return "op " + std::to_string(op); }
std::string valueText(ValueId value) {
  return "value " + std::to_string(value);
}

/// Adds \p amount to \p sum; false if it is negative or the sum too large.
bool accumulate(int64_t &sum, int64_t amount) {
  if (amount < 0 || amount > sumLimit - sum)
    return false;
  sum += amount;
  return true;
}

using Fault = std::optional<ProblemFault>;

Fault faultOp(OpId op, const std::string &what) {
  return ProblemFault{ProblemFault::Item::Op, op, opText(op) + what};
}
Fault faultValue(ValueId value, const std::string &what) {
  return ProblemFault{ProblemFault::Item::Value, value,
                      valueText(value) + what};
}

bool inRange(int32_t index, size_t size) {
  return index >= 0 && static_cast<size_t>(index) < size;
}

Fault checkValues(const Problem &problem) {
  int64_t bytes = 0, elements = 0;
  std::map<int32_t, int64_t> elementsOfShape;
  for (ValueId id = 0; id < static_cast<ValueId>(problem.values.size()); ++id) {
    const Value &value = problem.values[id];
    if (value.bytes < 0 || value.bytes > sumLimit ||
        !accumulate(bytes, slotBytes(value.bytes)))
      return faultValue(id, " has a negative size or exceeds the sum");
    if (!accumulate(elements, value.elements))
      return faultValue(id, " has a negative number of elements or exceeds "
                            "the sum");
    if (value.shape < 0)
      return faultValue(id, " has a negative shape number");
    auto [known, added] = elementsOfShape.emplace(value.shape, value.elements);
    if (!added && known->second != value.elements)
      return faultValue(id, " has " + std::to_string(value.elements) +
                                " elements, but its shape has " +
                                std::to_string(known->second));
    if (value.op == none && value.home != Home::Argument)
      return faultValue(id, " is no argument, but no op makes it");
    if (value.op != none && value.home == Home::Argument)
      return faultValue(id, " is an argument, but " + opText(value.op) +
                                " makes it");
    if (value.op != none && !inRange(value.op, problem.ops.size()))
      return faultValue(id, " is made by an op that does not exist");
  }
  return std::nullopt;
}

bool sameElements(const Value &left, const Value &right) {
  return left.bytes == right.bytes && left.elements == right.elements;
}

/// Each of several values in the buffer of one result is read only by the op
/// that makes the next one.
Fault checkGuests(const Problem &problem) {
  std::vector<ValueId> last(problem.values.size(), none);
  std::vector<OpId> next(problem.values.size(), none);
  for (const Op &op : problem.ops)
    for (ValueId result : op.results)
      if (ValueId host = problem.values[result].host; host != none)
        if (ValueId before = std::exchange(last[host], result); before != none)
          next[before] = problem.values[result].op;
  for (OpId id = 0; id < static_cast<OpId>(problem.ops.size()); ++id)
    for (const Read &read : problem.ops[id].reads)
      if (next[read.value] != none && next[read.value] != id)
        return faultValue(
            read.value,
            " is not only read to make the next value in the buffer of its "
            "host");
  return std::nullopt;
}

/// Checks a value with a host: a hosted value becomes a later result, and a
/// result may lie in an argument.
Fault checkHost(const Problem &problem, ValueId id) {
  const Value &value = problem.values[id];
  if (!inRange(value.host, problem.values.size()))
    return faultValue(id, " has a host that does not exist");
  const Value &host = problem.values[value.host];
  if (value.home == Home::Result) {
    if (host.home != Home::Argument || host.bytes != value.bytes)
      return faultValue(id, " has a host that is no argument as large");
    return std::nullopt;
  }
  if (host.home != Home::Result || host.op <= value.op ||
      !sameElements(value, host))
    return faultValue(id, " has a host that is no later result as large");
  if (host.host != none)
    return faultValue(id, " has a host that lies in an argument");
  return std::nullopt;
}

/// Checks the promises of `host` and `same`.
Fault checkRelations(const Problem &problem) {
  std::set<ValueId> donated;
  for (ValueId id = 0; id < static_cast<ValueId>(problem.values.size()); ++id) {
    const Value &value = problem.values[id];
    bool mayBeHosted = value.home == Home::Hosted || value.home == Home::Result;
    if ((value.home == Home::Hosted && value.host == none) ||
        (!mayBeHosted && value.host != none))
      return faultValue(id, " is hosted by no value, or has a host and another "
                            "home");
    if (value.host != none)
      if (Fault fault = checkHost(problem, id))
        return fault;
    if (value.home == Home::Result && value.host != none &&
        !donated.insert(value.host).second)
      return faultValue(id, " has the argument of another result as its host");
    if (value.same == none)
      continue;
    if (!inRange(value.same, problem.values.size()) || value.op == none ||
        problem.ops[value.op].kind != OpKind::View ||
        problem.values[value.same].op >= value.op ||
        !sameElements(value, problem.values[value.same]))
      return faultValue(id, " is not the same as an earlier value");
  }
  return std::nullopt;
}

Fault checkResults(const Problem &problem) {
  std::vector<char> made(problem.values.size(), false);
  for (OpId id = 0; id < static_cast<OpId>(problem.ops.size()); ++id) {
    for (ValueId result : problem.ops[id].results) {
      if (!inRange(result, problem.values.size()))
        return faultOp(id, " makes a value that does not exist");
      if (problem.values[result].op != id || made[result])
        return faultOp(id, " makes " + valueText(result) +
                               ", which has another producer");
      made[result] = true;
    }
  }
  for (ValueId id = 0; id < static_cast<ValueId>(problem.values.size()); ++id)
    if (problem.values[id].op != none && !made[id])
      return faultValue(id, " is not among the results of its op");
  return std::nullopt;
}

/// Checks the shapes that an access promises. Shapes of anchors are not in the
/// result's iteration space, so nothing follows for them.
std::string checkAccess(const Problem &problem, const Op &op,
                        const Read &read) {
  bool viewOnly =
      read.access == Access::Reshape || read.access == Access::Permute;
  bool isStretch = read.access == Access::Stretch;
  if ((viewOnly || isStretch) && op.kind != OpKind::View)
    return "has an access that only views have";
  if (isAnchor(op))
    return "";
  const Value &source = problem.values[read.value];
  for (ValueId result : op.results) {
    const Value &target = problem.values[result];
    if (read.access == Access::Pointwise && source.shape != target.shape)
      return "reads another shape point by point";
    if (isStretch && source.elements < target.elements)
      return "shows a stretch that is longer than its source";
    if (viewOnly && source.elements != target.elements)
      return "has a one-to-one access to another number of elements";
  }
  return "";
}

Fault checkReads(const Problem &problem, OpId id) {
  const Op &op = problem.ops[id];
  for (const Read &read : op.reads) {
    if (!inRange(read.value, problem.values.size()))
      return faultOp(id, " reads a value that does not exist");
    if (problem.values[read.value].op >= id)
      return faultOp(id,
                     " reads " + valueText(read.value) + " before it is made");
    std::string error = checkAccess(problem, op, read);
    if (!error.empty())
      return faultOp(id, " " + error + ": " + valueText(read.value));
  }
  return std::nullopt;
}

Fault checkOps(const Problem &problem) {
  int64_t flops = 0, computePs = 0, workspaceBytes = 0;
  for (OpId id = 0; id < static_cast<OpId>(problem.ops.size()); ++id) {
    const Op &op = problem.ops[id];
    if (Fault fault = checkReads(problem, id))
      return fault;
    if (op.kind == OpKind::View &&
        (op.reads.size() != 1 || op.results.size() != 1))
      return faultOp(id, " is a view without exactly one read and one result");
    if (!isAnchor(op) && op.results.empty())
      return faultOp(id, " is fusible, but has no result");
    for (ValueId result : op.results)
      if (!isAnchor(op) && problem.values[result].shape !=
                               problem.values[op.results.front()].shape)
        return faultOp(id, " is fusible, but has results of several shapes");
    if (!accumulate(flops, op.flops) || !accumulate(computePs, op.computePs) ||
        op.workspaceBytes > sumLimit ||
        !accumulate(workspaceBytes, op.workspaceBytes))
      return faultOp(id, " has a negative cost or exceeds the sum");
    if (op.layer != none && !inRange(op.layer, problem.layers.size()))
      return faultOp(id, " is in a layer that does not exist");
    if (op.hasEffects && (op.kind != OpKind::Opaque || op.mayRepeat))
      return faultOp(id,
                     " has effects, but is not an opaque op that runs once");
  }
  return std::nullopt;
}

/// Each has layers, ascending, and a budget; two that overlap are nested.
Fault checkRegions(const Problem &problem) {
  const std::vector<Region> &regions = problem.regions;
  auto fault = [&](size_t region, const std::string &what) {
    return ProblemFault{ProblemFault::Item::Region,
                        static_cast<int32_t>(region),
                        "region '" + regions[region].name + "'" + what};
  };
  for (size_t i = 0; i < regions.size(); ++i) {
    const std::vector<int32_t> &layers = regions[i].layers;
    if (layers.empty() || !inRange(layers.front(), problem.layers.size()) ||
        !inRange(layers.back(), problem.layers.size()) ||
        std::adjacent_find(layers.begin(), layers.end(),
                           std::greater_equal<>()) != layers.end())
      return fault(i, " has no layers that exist, each once and ascending");
    if (regions[i].budgetBytes <= 0)
      return fault(i, " has a budget that is not positive");
    for (size_t j = 0; j < i; ++j) {
      std::vector<int32_t> common;
      std::set_intersection(layers.begin(), layers.end(),
                            regions[j].layers.begin(), regions[j].layers.end(),
                            std::back_inserter(common));
      if (!common.empty() && common != layers && common != regions[j].layers)
        return fault(i, " overlaps region '" + regions[j].name +
                            "', but neither holds the other: both hold '" +
                            problem.layers[common.front()] + "'");
    }
  }
  return std::nullopt;
}

} // namespace

int64_t ckpt::plan::bytesRead(const Problem &problem, const Op &op,
                              const Read &read) {
  const Value &source = problem.values[read.value];
  if (op.kind != OpKind::Fusible || read.access != Access::Gather)
    return source.bytes;
  int64_t elements = 0;
  for (ValueId result : op.results)
    elements = std::max(elements, problem.values[result].elements);
  if (elements >= source.elements)
    return source.bytes;
  int64_t elementBytes = (source.bytes + source.elements - 1) / source.elements;
  return std::min(source.bytes, elements * elementBytes);
}

bool ckpt::plan::isInlined(const Problem &problem, ValueId value) {
  const Value &v = problem.values[value];
  if (v.keep != Keep::Inline || v.op == none)
    return false;
  const Op &op = problem.ops[v.op];
  for (ValueId result : op.results)
    if (problem.values[result].keep == Keep::Save)
      return false;
  return !isAnchor(op) && op.mayRepeat;
}

Fault ckpt::plan::findFault(const Problem &problem) {
  if (problem.bytesPerMicrosecond <= 0)
    return ProblemFault{ProblemFault::Item::Bandwidth, none,
                        "the bandwidth is not positive"};
  if (problem.launchNs < 0 || problem.launchNs > sumLimit / 1000)
    return ProblemFault{ProblemFault::Item::Launch, none,
                        "the launch time is out of range"};
  for (auto step : {checkValues, checkResults, checkOps, checkRelations,
                    checkGuests, checkRegions})
    if (Fault fault = step(problem))
      return fault;
  return std::nullopt;
}

std::string ckpt::plan::check(const Problem &problem) {
  Fault fault = findFault(problem);
  return fault ? fault->what : "";
}
