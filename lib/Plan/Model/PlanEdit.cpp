//===- PlanEdit.cpp - Ops and outputs that serve nothing ------------------===//
//
// A change of kernels leaves outputs without readers, and ops without outputs.
// Constructions and moves remove both.
//
//===----------------------------------------------------------------------===//

#include "Plan/Model/PlanEdit.h"

#include <algorithm>

using namespace ckpt::plan;

bool ckpt::plan::mayRepeat(const Problem &problem, const Kernel &kernel) {
  return std::all_of(kernel.ops.begin(), kernel.ops.end(),
                     [&](OpId op) { return problem.ops[op].mayRepeat; });
}

void ckpt::plan::trimOps(const Problem &problem, Kernel &kernel) {
  std::vector<char> needed(kernel.ops.size(), 0);
  auto indexOf = [&](OpId op) -> int64_t {
    auto found = std::lower_bound(kernel.ops.begin(), kernel.ops.end(), op);
    return found != kernel.ops.end() && *found == op
               ? found - kernel.ops.begin()
               : -1;
  };
  for (ValueId output : kernel.outputs)
    needed[indexOf(problem.values[output].op)] = 1;
  for (size_t i = kernel.ops.size(); i-- > 0;) {
    const Op &op = problem.ops[kernel.ops[i]];
    needed[i] |= !op.mayRepeat;
    if (!needed[i])
      continue;
    for (const Read &read : op.reads)
      if (OpId producer = problem.values[read.value].op; producer != none)
        if (int64_t index = indexOf(producer); index >= 0)
          needed[index] = 1;
  }
  size_t kept = 0;
  for (size_t i = 0; i < kernel.ops.size(); ++i)
    if (needed[i])
      kernel.ops[kept++] = kernel.ops[i];
  kernel.ops.resize(kept);
}

/// Calls \p function for every value that the kernel reads from memory; may
/// repeat one.
template <typename Function>
static void forEachRead(const Problem &problem, const Kernel &kernel,
                        Function function) {
  for (OpId op : kernel.ops)
    for (const Read &read : problem.ops[op].reads) {
      OpId producer = problem.values[read.value].op;
      if (producer == none ||
          !std::binary_search(kernel.ops.begin(), kernel.ops.end(), producer))
        function(read.value);
    }
}

static void dropEmptyKernels(Plan &plan) {
  plan.kernels.erase(
      std::remove_if(plan.kernels.begin(), plan.kernels.end(),
                     [](const Kernel &kernel) { return kernel.ops.empty(); }),
      plan.kernels.end());
}

void ckpt::plan::removeDeadOutputs(const Problem &problem, Plan &plan) {
  std::vector<char> wanted(problem.values.size(), 0);
  for (size_t value = 0; value < wanted.size(); ++value)
    wanted[value] = problem.values[value].home == Home::Result;
  for (size_t k = plan.kernels.size(); k-- > 0;) {
    Kernel &kernel = plan.kernels[k];
    std::vector<ValueId> outputs;
    for (ValueId output : kernel.outputs)
      if (wanted[output] || problem.values[output].keep == Keep::Save)
        outputs.push_back(output);
    if (outputs.empty() && !mayRepeat(problem, kernel))
      outputs = kernel.outputs;
    if (outputs.size() != kernel.outputs.size()) {
      kernel.outputs = outputs;
      if (outputs.empty())
        kernel.ops.clear();
      else
        trimOps(problem, kernel);
    }
    for (ValueId output : kernel.outputs)
      wanted[output] = 0;
    forEachRead(problem, kernel, [&](ValueId value) { wanted[value] = 1; });
  }
  dropEmptyKernels(plan);
}

void ckpt::plan::writeResultsOnce(const Problem &problem, Plan &plan) {
  std::vector<char> isWritten(problem.values.size(), 0);
  for (Kernel &kernel : plan.kernels) {
    std::vector<ValueId> outputs;
    for (ValueId output : kernel.outputs)
      if (problem.values[output].home != Home::Result || !isWritten[output]) {
        outputs.push_back(output);
        isWritten[output] = 1;
      }
    if (outputs.size() == kernel.outputs.size())
      continue;
    kernel.outputs = std::move(outputs);
    trimOps(problem, kernel);
  }
  dropEmptyKernels(plan);
}
