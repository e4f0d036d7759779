//===- HostInResults.cpp - Values in result buffers before the results ----===//
//
// A result's buffer belongs to the step from its start, but is written near the
// end. What only becomes that result, element by element, may lie there in the
// meantime: a gradient that is summed from two parts, of which one is made long
// before the other. XLA does this too; the gradient of a tied embedding of
// GPT-2 is 154 MB at the tightest moment of the step.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Plan/Kernel.h"

#include <algorithm>

using namespace ckpt::plan;

/// Per value: the one result that all its uses end in, with no anchor between;
/// `none` if there is none or several. Users come later in program order, so
/// one sweep from the end settles it.
static std::vector<ValueId> onlyResults(const Problem &problem) {
  constexpr ValueId unread = -2;
  std::vector<ValueId> only(problem.values.size(), unread);
  for (size_t value = 0; value < only.size(); ++value)
    if (problem.values[value].home == Home::Result)
      only[value] = static_cast<ValueId>(value);
  for (size_t id = problem.ops.size(); id-- > 0;) {
    const Op &op = problem.ops[id];
    ValueId end = op.results.size() == 1 && !isAnchor(op) && op.mayRepeat
                      ? only[op.results[0]]
                      : ValueId(none);
    for (const Read &read : op.reads)
      if (end != unread)
        only[read.value] = only[read.value] == unread || only[read.value] == end
                               ? end
                               : ValueId(none);
  }
  return only;
}

/// Per op: the last anchor that it has to wait for.
static std::vector<OpId> lastAnchors(const Problem &problem) {
  std::vector<OpId> last(problem.ops.size(), none);
  for (size_t id = 0; id < problem.ops.size(); ++id) {
    for (const Read &read : problem.ops[id].reads)
      if (OpId maker = problem.values[read.value].op; maker != none)
        last[id] = std::max(last[id], last[maker]);
    if (isAnchor(problem.ops[id]))
      last[id] = static_cast<OpId>(id);
  }
  return last;
}

/// The value that the kernel of a result could overwrite, that nothing else
/// reads, and that waits longest: made before something else that the kernel
/// reads.
static ValueId chooseGuest(const Problem &problem, const Kernel &kernel,
                           const std::vector<ValueId> &only,
                           const std::vector<OpId> &lastAnchor) {
  KernelInfo info = analyze(problem, kernel);
  OpId youngest = none;
  for (ValueId read : info.memoryReads)
    if (OpId maker = problem.values[read].op; maker != none)
      youngest = std::max(youngest, lastAnchor[maker]);
  ValueId guest = none;
  for (const InPlacePair &pair : info.inPlace) {
    const Value &value = problem.values[pair.input];
    if (value.home == Home::Arena && value.keep == Keep::Free &&
        only[pair.input] == kernel.outputs[0] && value.op < youngest &&
        (guest == none || value.op < problem.values[guest].op))
      guest = pair.input;
  }
  return guest;
}

/// The op that alone reads a value, or `none` if there are several.
static std::vector<OpId> onlyUsers(const Problem &problem) {
  constexpr OpId unread = -2;
  std::vector<OpId> only(problem.values.size(), unread);
  for (size_t id = 0; id < problem.ops.size(); ++id)
    for (const Read &read : problem.ops[id].reads)
      only[read.value] = only[read.value] == unread ? static_cast<OpId>(id)
                                                    : static_cast<OpId>(none);
  std::replace(only.begin(), only.end(), unread, static_cast<OpId>(none));
  return only;
}

/// Whether \p sum, which an op of one result makes, may be written over \p part
/// and nobody else reads that.
static bool mayReplace(const Problem &problem, ValueId part, ValueId sum,
                       const std::vector<OpId> &onlyUser) {
  const Value &from = problem.values[part], &to = problem.values[sum];
  const Op &op = problem.ops[to.op];
  bool may = onlyUser[part] == to.op && op.kind == OpKind::Fusible &&
             op.results.size() == 1 && from.home == Home::Arena &&
             from.keep == Keep::Free && from.bytes == to.bytes &&
             from.elements == to.elements;
  for (const Read &read : op.reads)
    may &= read.value != part || read.access == Access::Pointwise;
  return may;
}

/// What \p part becomes, if that waits for less than \p result does.
static ValueId nextSum(const Problem &problem, ValueId part, ValueId result,
                       const std::vector<OpId> &onlyUser,
                       const std::vector<OpId> &lastAnchor) {
  OpId user = onlyUser[part];
  if (user == none || lastAnchor[user] >= lastAnchor[problem.values[result].op])
    return none;
  ValueId sum = problem.ops[user].results.front();
  const Value &value = problem.values[sum];
  bool isFree = value.home == Home::Arena && value.keep == Keep::Free;
  return isFree && mayReplace(problem, part, sum, onlyUser)
             ? sum
             : static_cast<ValueId>(none);
}

/// The first of the partial sums that \p result comes from, one over the other,
/// if it has to wait; where the parts are turned, none of them may be a guest.
static ValueId firstSum(const Problem &problem, ValueId result,
                        const std::vector<OpId> &onlyUser,
                        const std::vector<OpId> &lastAnchor) {
  ValueId first = none, sum = result;
  for (ValueId part = result; part != none; sum = part) {
    part = none;
    for (const Read &read : problem.ops[problem.values[sum].op].reads) {
      OpId maker = problem.values[read.value].op;
      if (maker != none && problem.ops[maker].kind == OpKind::Fusible &&
          lastAnchor[maker] != none &&
          mayReplace(problem, read.value, sum, onlyUser) &&
          (part == none ||
           lastAnchor[maker] < lastAnchor[problem.values[part].op]))
        part = read.value;
    }
    if (part != none && lastAnchor[problem.values[part].op] <
                            lastAnchor[problem.values[result].op])
      first = part;
  }
  return first;
}

void ckpt::plan::hostInResults(Problem &problem) {
  std::vector<OpId> onlyUser = onlyUsers(problem);
  std::vector<ValueId> only = onlyResults(problem);
  std::vector<OpId> lastAnchor = lastAnchors(problem);
  std::vector<Kernel> kernels(problem.values.size());
  for (size_t id = 0; id < problem.ops.size(); ++id) {
    const Op &op = problem.ops[id];
    if (isAnchor(op) || op.results.size() != 1 || !op.mayRepeat)
      continue;
    if (ValueId end = only[op.results[0]]; end >= 0)
      kernels[end].ops.push_back(static_cast<OpId>(id));
  }
  for (size_t value = 0; value < problem.values.size(); ++value) {
    auto result = static_cast<ValueId>(value);
    if (problem.values[result].home != Home::Result ||
        kernels[result].ops.empty())
      continue;
    kernels[result].outputs = {result};
    ValueId guest = chooseGuest(problem, kernels[result], only, lastAnchor);
    if (guest == none)
      guest = firstSum(problem, result, onlyUser, lastAnchor);
    while (guest != none) {
      ValueId next = nextSum(problem, guest, result, onlyUser, lastAnchor);
      problem.values[guest].home = Home::Hosted;
      problem.values[guest].host = result;
      guest = next;
    }
  }
}
