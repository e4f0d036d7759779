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

void ckpt::plan::hostInResults(Problem &problem) {
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
    if (problem.values[value].home != Home::Result ||
        kernels[value].ops.empty())
      continue;
    kernels[value].outputs = {static_cast<ValueId>(value)};
    ValueId guest = chooseGuest(problem, kernels[value], only, lastAnchor);
    if (guest == none)
      continue;
    problem.values[guest].home = Home::Hosted;
    problem.values[guest].host = static_cast<ValueId>(value);
  }
}
